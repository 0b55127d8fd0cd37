# svg.t.sh - the picture in headless Chromium: it is shown, every text stays in its bar and in
# the picture, and the dark theme is there for those who prefer it.
#
# Chromium measures: check.html has the picture in it and a script that writes what it found
# into the page's title, which --dump-dom prints.
set -u

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$chromium" ]; then
    echo '1..0 # SKIP no Chromium'
    exit 0
fi
program=$(realpath "${STREAMLAB:-build/streamlab}")
work=$(mktemp -d /tmp/streamlab-browser-XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
n=0

is() {      # got, wanted, name
    n=$((n + 1))
    if [ "$1" = "$2" ]; then
        echo "ok $n - $3"
    else
        echo "not ok $n - $3"
        echo "#   got '$1', expected '$2'"
    fi
}

browse() {  # options of Chromium; what it prints
    "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$work/profile" --virtual-time-budget=2000 "$@" 2>/dev/null
}

# The title that check.html gets with the picture $1 in it; $2: more options.
check() {
    {
        echo '<!doctype html><meta charset="utf-8"><body style="margin:0">'
        sed 1d "$work/$1.svg"
        cat <<'EOF'
<script>
const svg = document.querySelector("svg"), page = svg.getBoundingClientRect();
const texts = [...svg.querySelectorAll("text")], bars = [...svg.querySelectorAll("g > rect")];
const inside = (a, b) => a.left >= b.left - .5 && a.right <= b.right + .5 &&
                         a.top >= b.top - 2 && a.bottom <= b.bottom + 2;
const out = texts.filter(t => !inside(t.getBoundingClientRect(), page));
const labels = texts.filter(t => t.parentNode.getAttribute("pointer-events"));
const spilt = labels.filter(t => {
    const box = t.getBoundingClientRect();
    return !bars.some(b => b.querySelector("title") && inside(box, b.getBoundingClientRect()));
});
const names = texts.filter(t => /^(worker|WW)/.test(t.textContent));
const ticks = texts.filter(t => /^[0-9.]+( [nmu]?s)?$/.test(t.textContent))
                   .map(t => t.getBoundingClientRect());
const touching = ticks.filter((t, i) => i > 0 && t.left < ticks[i - 1].right + 4);
const kernel = bars.find(b => /spin|matmul/.test(b.textContent) && !/: the host/.test(b.textContent));
document.title = [out.length, spilt.length, touching.length, names.length, labels.length > 0, ticks.length > 2,
                  getComputedStyle(svg.querySelector(":scope > rect")).fill,
                  getComputedStyle(kernel).fill].join(" ");
</script>
EOF
    } > "$work/check.html"
    browse ${2:+"$2"} --dump-dom "file://$work/check.html" |
        sed -n 's/.*<title>\([0-9][0-9]* [^<]*\)<\/title>.*/\1/p' | head -n 1
}

cat > "$work/pictures.lua" <<'EOF'
local folder = arg[1]
lab.open{backend = "sim", profile = "textbook"}
local streams = {}
for i = 1, 12 do
    streams[i] = lab.stream{name = i % 4 == 0 and "WWWWW mmmmm größer 東京 <&> " .. i or "worker " .. i}
end
local gpu, host = lab.zeros(512, 512), lab.zeros(512, 512, {device = "cpu"})
local tl = lab.profile(function()
    local event
    for round = 1, 3 do
        for i, stream in ipairs(streams) do
            if event and i % 3 == 0 then stream:wait_event(event) end
            lab.spin(0.02 * i, {stream = stream, blocks = 40})
            lab.matmul(gpu, gpu, {stream = stream})
            event = stream:record_event()
        end
        gpu:copy_(host, {stream = streams[round]})
        lab.synchronize()
    end
end)
tl:save(folder .. "/auto.svg")
tl:save(folder .. "/light.svg", {theme = "light", width_px = 1600})
tl:save(folder .. "/dark.svg", {theme = "dark", rows = "engines"})
tl:save(folder .. "/narrow.svg", {theme = "light", width_px = 300})
tl:save(folder .. "/part.svg", {theme = "light", from_us = 100.5, to_us = 101})
EOF

echo 1..10
"$program" "$work/pictures.lua" "$work"
is $? 0 "the pictures are written"
light='rgb(255, 255, 255) rgb(39, 120, 73)' dark='rgb(22, 25, 29) rgb(106, 187, 153)'
# Nothing outside, no label beside its bar, no ticks that touch; 12 rows; labels and ticks.
good='0 0 0 12 true true'
is "$(check light)" "$good $light" "all texts of a light picture are in their places"
is "$(check dark)" "0 0 0 0 true true $dark" "those of a dark one are, and it is dark"
is "$(check part)" "$good $light" "those of a short part are"
is "$(check narrow)" "0 0 0 12 false false $light" "those of a narrow one are, for few is room"
is "$(check auto --blink-settings=preferredColorScheme=1)" "$good $light" \
    "the automatic theme is light for those who prefer that"
is "$(check auto --blink-settings=preferredColorScheme=0)" "$good $dark" "and dark for the others"

browse --dump-dom "file://$work/auto.svg" > "$work/dom"
is "$(grep -c 'parsererror\|errors on line' "$work/dom")" 0 "a picture by itself has no errors"
is "$(grep -c '</svg>' "$work/dom")" 1 "and is shown to its end"

browse --window-size=960,400 --screenshot="$work/shot.png" "file://$work/auto.svg"
is "$(head -c 4 "$work/shot.png" | tail -c 3)" PNG "a screenshot can be taken of it"

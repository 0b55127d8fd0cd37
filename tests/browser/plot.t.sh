# plot.t.sh - plots of tables in headless Chromium: all texts are in the picture, those of an axis
# do not touch, names at the ends of lines neither, and the dark theme is there.
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

# How many texts of $1 are outside and how many touch another one; the page's and the first line's
# colours. $2: more options of Chromium.
check() {
    {
        echo '<!doctype html><meta charset="utf-8"><body style="margin:0">'
        sed 1d "$work/$1.svg"
        cat <<'JS'
<script>
const svg = document.querySelector("svg"), page = svg.getBoundingClientRect();
const boxes = [...svg.querySelectorAll("text")].map(t => t.getBoundingClientRect());
const out = boxes.filter(b => b.left < 0 || b.top < 0 || b.right > page.width || b.bottom > page.height);
const touch = (a, b) => a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom;
const touching = boxes.filter((a, i) => boxes.some((b, j) => j < i && touch(a, b)));
document.title = [out.length, touching.length, boxes.length > 5,
                  getComputedStyle(svg.querySelector(":scope > rect")).fill,
                  getComputedStyle(svg.querySelector("path[fill=none][stroke-width='2']")).stroke].join(" ");
</script>
JS
    } > "$work/check.html"
    "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$work/profile" --virtual-time-budget=2000 ${2:+"$2"} \
        --dump-dom "file://$work/check.html" 2>/dev/null |
        sed -n 's/.*<title>\([0-9][0-9]* [^<]*\)<\/title>.*/\1/p' | tail -n 1
}

cat > "$work/plots.lua" <<'EOF2'
local folder, rows, few, wide = arg[1], {}, {}, {}
for i = 0, 12 do
    for by = 1, 9 do
        rows[#rows + 1] = {kib = 4 << i, us = 2 ^ i * by, min = 2 ^ i * by / 2, max = 2 ^ i * by * 1.5,
                           by = by, gpu = "GPU " .. by % 4}
    end
    few[#few + 1] = {kib = 4 << i, us = 5 + i % 2, by = "WWWW mmmm größer 東京 <&>"}
    few[#few + 1] = {kib = 4 << i, us = 5.01, by = "nearly the same"}
    wide[#wide + 1] = {what = ("WWWWW mmmmm %d"):format(i), us = 1e-7 * i}
end
local function draw(rows, name, options)
    options.file = folder .. "/" .. name .. ".svg"
    lab.table(rows, {title = "a title that is long enough to need more than narrow pictures have"}):plot(options)
end
draw(rows, "panels", {x = "kib", y = "us", by = "by", facet = "gpu", log = "xy", range = {"min", "max"}})
draw(rows, "nine", {x = "kib", y = "us", by = "by", log = "x", theme = "light"})
draw(rows, "narrow", {x = "kib", y = "us", by = "by", facet = "gpu", log = "y", width_px = 200, theme = "light"})
draw(few, "few", {x = "kib", y = "us", by = "by", theme = "dark"})
draw(wide, "wide", {x = "what", y = "us", theme = "light"})
EOF2

echo 1..7
"$program" --norc "$work/plots.lua" "$work"
is $? 0 "the plots are written"
light='rgb(255, 255, 255) rgb(0, 114, 178)' dark='rgb(22, 25, 29) rgb(61, 159, 220)'
is "$(check panels --blink-settings=preferredColorScheme=1)" "0 0 true $light" \
    "texts of four panels are in their places, and light for those who prefer that"
is "$(check panels --blink-settings=preferredColorScheme=0)" "0 0 true $dark" "and dark for the others"
is "$(check nine)" "0 0 true $light" "those of nine lines are"
is "$(check narrow)" "0 0 true $light" "those of a narrow picture are"
is "$(check few)" "0 0 true $dark" "names at the ends of lines do not touch"
is "$(check wide)" "0 0 true $light" "nor do wide texts below an axis"

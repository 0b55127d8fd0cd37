-- 74-plan-kills.t.lua - workers that are killed at random and started again: the table is the same,
-- byte for byte, as from one that nobody disturbs.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder = shell.folder()

local function sh(command)
    return shell.sh("cd " .. folder .. "; export STREAMLAB_BACKEND=sim; " .. command)
end

shell.write(folder .. "/s.lua", [[
local n = {}
for i = 1, 150 do n[i] = i end
lab.sweep({{"n", n}, {"pinned", {false, true}}}, function(point)
    local x = lab.rand(point.n * 1000, {device = "cpu", pinned = point.pinned})
    local tl = lab.profile(function() x:to("cuda", {non_blocking = true}) end)
    return {makespan_us = tl.makespan_us, wall_us = tl.wall_us, first = x:get(1), drawn = math.random()}
end, {plan = arg[1]})
]])
local out, err, code = sh '"$P" s.lua one.jsonl && "$P" work one.jsonl --shard 1/1 && "$P" merge \z
    one.jsonl -o one.csv'
tap.is(code, 0, "one worker does all points")
tap.like(err, "300 points: 300 done now", "without a break")

-- Four workers at a time, two of them with the same shard, and a killer that draws from a fixed
-- seed.
local killer = [[
use strict; use POSIX ":sys_wait_h";
my ($program) = @ARGV; srand(1);
my (%shard, $kills, $starts); my @shards = (1, 2, 3, 3);
sub start { my ($shard) = @_; my $pid = fork() // die;
    if (!$pid) { exec $program, "work", "many.jsonl", "--shard", "$shard/3", "--quiet"; exit 127 }
    $shard{$pid} = $shard; $starts++; }
start($_) for @shards;
while (%shard) {
    select(undef, undef, undef, 0.02 + rand(0.1));
    my @pids = sort keys %shard;
    if ($kills < 12) { kill "KILL", $pids[rand @pids]; $kills++ }
    for my $pid (@pids) {
        next if waitpid($pid, WNOHANG) != $pid;
        my ($shard, $status) = (delete $shard{$pid}, $?);
        if ($status == 9) { start($shard) } elsif ($status) { die "a worker ended with $status" }
    }
}
print "$kills kills, ", $starts - @shards, " workers started again\n";
]]
shell.write(folder .. "/killer.pl", killer)
out, err, code = sh '"$P" s.lua many.jsonl; perl killer.pl "$P"; "$P" merge many.jsonl -o many.csv'
tap.is(err .. code, "0", "all points are done in the end")
tap.like(out, "^[1-9]%d* kills, %d+ workers started again", "though workers were killed")
tap.diag(out:match "%d+ kills[^\n]*")
local one = shell.read(folder .. "/one.csv")
tap.is(select(2, one:gsub("\n", "")), 301, "the table of one process has a row for each point")
tap.is(shell.read(folder .. "/many.csv"), one,
       "and that of killed workers is the same, byte for byte")
out = sh 'ls many.results | grep -v "^[0-9a-f]*\\.json$" | wc -l; ls many.results | grep -c \z
    "^[0-9a-f]*\\.json$"'
tap.like(out, "^[01]\n300\n$",
         "what a killed worker left half-written was removed, but perhaps the last")

shell.remove(folder)
tap.done()

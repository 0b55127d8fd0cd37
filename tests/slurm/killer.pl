# killer.pl SECONDS PLAN SCRIPT TASKS - for so long, kills workers on the plan at random with SIGKILL, and
# submits the task of each again. Prints how many it killed.
use strict;
use warnings;

my ($seconds, $plan, $script, $tasks) = @ARGV;
my $end = time + $seconds;
srand(1);

# The plan's name is that of a new folder: only workers of this test have it.
sub workers {
    my @found;
    for my $path (glob '/proc/[0-9]*/cmdline') {
        open(my $file, '<', $path) or next;
        local $/;
        my @words = split /\0/, (<$file> // '');
        push @found, [$path =~ m{(\d+)}, $words[4]] if @words == 5 && $words[1] eq 'work' && $words[2] eq $plan;
    }
    return @found;
}

my $kills = 0;
while (time < $end) {
    select(undef, undef, undef, 0.2 + rand(0.6));
    my @workers = workers() or next;
    my ($pid, $shard) = @{ $workers[rand @workers] };
    my $task = (split m{/}, $shard)[0] - 1;
    next if !kill 'KILL', $pid;
    $kills++;
    system('sbatch', '--quiet', "--array=$task", $script) == 0 or die "sbatch failed\n";
}
print "$kills\n";

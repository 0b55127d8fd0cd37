#!/bin/sh
# loopback.sh - a cluster of Slurm that is this machine: its daemons listen on 127.0.0.1 only, and keep all
# that they write in one folder. Read by other shell scripts.
#   slurm_missing        prints why there cannot be one, or nothing
#   slurm_start FOLDER   starts munged, slurmctld and slurmd, with 8 processors whatever there are; fails
#                        if they do not answer within 20 s. SLURM_CONF is then set
#   slurm_stop FOLDER    stops those that slurm_start has started
#   slurm_guard FOLDER FILE  does so when this shell is gone, however it ended, and removes the folder; FILE
#                        is the absolute path of this file

slurm_missing() {
    for name in munged slurmctld slurmd sbatch squeue scontrol; do
        if ! PATH=$PATH:/usr/sbin command -v $name >/dev/null; then
            echo "there is no $name: apt-get install slurmctld slurmd slurm-client munge"
            return
        fi
    done
    [ "$(id -u)" = 0 ] || echo 'slurmd and munged run as root here'
}

# The processor-time limits, cgroups and accounting of a real cluster are left out.
slurm_conf() { # FOLDER
    host=$(hostname -s)
    cat <<END
ClusterName=loopback
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$1/munge.socket
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdLogFile=$1/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_min_interval=100000,defer
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 RealMemory=1000
PartitionName=here Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

slurm_answers() {
    for _ in $(seq 100); do
        sinfo -h -o %t 2>/dev/null | grep -q idle && return
        sleep 0.2
    done
    return 1
}

slurm_start() { # FOLDER
    PATH=$PATH:/usr/sbin
    mkdir -p "$1/state" "$1/spool" && chmod 700 "$1" || return
    dd if=/dev/urandom of="$1/munge.key" bs=1024 count=1 2>/dev/null && chmod 600 "$1/munge.key" || return
    slurm_conf "$1" >"$1/slurm.conf"
    SLURM_CONF=$1/slurm.conf
    export SLURM_CONF
    munged --force --key-file="$1/munge.key" --socket="$1/munge.socket" --pid-file="$1/munged.pid" \
        --log-file="$1/munged.log" --seed-file="$1/munged.seed" >"$1/start.log" 2>&1 || return
    slurmctld -i -c >>"$1/start.log" 2>&1 || return
    slurmd >>"$1/start.log" 2>&1 || return
    slurm_answers
}

slurm_stop() { # FOLDER
    for name in slurmd slurmctld munged; do
        [ -s "$1/$name.pid" ] && kill "$(cat "$1/$name.pid")" 2>/dev/null
    done
    for _ in $(seq 50); do
        [ -e "$1/slurmctld.pid" ] || [ -e "$1/slurmd.pid" ] || return 0
        sleep 0.1
    done
}

# A test that takes too long is killed with its process group, to which daemons do not belong.
slurm_guard() { # FOLDER FILE
    # shellcheck disable=SC2016 # the guard's own words
    setsid sh -c '. "$1"; while kill -0 "$2" 2>/dev/null; do sleep 1; done; slurm_stop "$3"; rm -rf "$3"' \
        guard "$2" $$ "$1" >/dev/null 2>&1 &
}

/* peer_access.c - calls that ask for access to another GPU's memory, and give it back. What access
 * changes is in peers.c. */
#include "copies.h"
#include "host.h"
#include "sim_backend.h"

static sl_status check_link(const sim_device *dev, const sl_device *peer, sl_error *err)
{
    if (dev->profile.peer_gb_per_s > 0) return SL_OK;
    return sl_fail(err, SL_EUNSUPPORTED,
                   "device %d cannot access the memory of device %d (the profile has no "
                   "peer.gb_per_s); copies go through the host",
                   dev->base.info.index, peer->info.index);
}

sl_status sim_peer_access(sl_device *base, sl_device *peer, sl_peer_call call, bool *answer,
                          sl_error *err)
{
    sim_device *dev = (sim_device *)base;
    const bool has = dev->peers & sim_peer_bit(peer);
    sl_status status = SL_OK;
    if (!sl_device_are_of_one_machine(base, peer))
        return sl_fail(err, SL_EINVAL, "devices %d and %d are of two simulated machines",
                       base->info.index, peer->info.index);
    *answer = false;
    switch (call) {
    case SL_PEER_CAN_ACCESS: *answer = dev->profile.peer_gb_per_s > 0; break;
    case SL_PEER_ENABLE:
        status = check_link(dev, peer, err);
        if (status != SL_OK || has) break;
        dev->peers |= sim_peer_bit(peer);
        *answer = true;
        break;
    case SL_PEER_DISABLE:
        if (!has) break;
        status = sim_host_wait_idle(dev, err); /* as on a GPU: copies in flight are direct ones */
        if (status != SL_OK) break;
        dev->peers &= ~sim_peer_bit(peer);
        *answer = true;
        break;
    }
    return status;
}

// expect: castnet: a policy takes only one of strategy::all_reduce, strategy::parameter_server
// expect: castnet: the arguments after a policy's number of replicas must be different types of castnet::strategy
// expect: castnet: accumulate<K> needs at least one batch in a step
#include <castnet/policy/mirrored.hpp>

using namespace castnet;

using both =
    policy::mirrored<policy::cpu, 2, strategy::parameter_server, strategy::sharded_optimizer>;
bool two_ways = both::strategies::updates_all;
bool not_one = policy::mirrored<policy::cpu, 2, int>::strategies::updates_all;
bool none = policy::mirrored<policy::cpu, 2, strategy::accumulate<0>>::strategies::updates_all;

// Order alone: instructions of hot stretches change places with their neighbours where no dependence forbids
// it, and waits are placed anew, so that every proposal does the same as its base. As in CuAsmRL (He, Yoneki:
// Optimizing SASS Schedules via Deep Reinforcement Learning, 2025), with a policy that is small enough to
// learn from a hundred attempts.
//
// The policy: how much is to be said for an instruction of one kind going in front of one of another kind, a
// number for each pair of kinds; an exchange is drawn with a probability that grows with it (softmax over the
// exchanges that are allowed). A proposal is the best of several such walks from the best order so far, by
// the cycles of a wave alone (timing/scoreboard.h). What it then came to at the gates, and in smaller steps
// what the walks came to on the scoreboard, moves the numbers (REINFORCE: Williams 1992). The best order so
// far is replaced only by one that was verified and is faster (hill climbing).
#pragma once

#include "search/driver.h"
#include "timing/machine_model.h"

namespace asmevo::search {

std::unique_ptr<Driver> make_schedule(timing::Machine, std::string kernel, uint64_t seed);

} // namespace asmevo::search

#include "gate/pair_kernel.h"
#include "gate/worker_pool.h"

#include <csignal>
#include <thread>

namespace asmevo::gate {
namespace {

WorkerPoolOptions options(unsigned workers = 1) {
  WorkerPoolOptions o;
  o.workers = workers;
  o.program = ASMEVO_BINARY_DIR "/asmevo";
  return o;
}

const oracle::Subject& k0() {
  static const auto subject = *oracle::Subject::open(pair_request().k0);
  return *subject;
}

Evaluation tried(WorkerPool& pool, const program::Edit& edit, unsigned worker = 0) {
  Evaluation e = pool.build(worker, {.chain = {}, .edit = edit, .node = 1});
  if (e.passed()) pool.judge(worker, e, {});
  return e;
}

TEST(WorkerPool, JudgesAsThisProcessWould) {
  auto pool = WorkerPool::start(pair_request(), options(2));
  ASSERT_TRUE(pool) << pool.error().message;
  const auto setup = Setup::make(pair_request());
  ASSERT_TRUE(setup);
  EXPECT_EQ((*pool)->report(), (*setup)->report());
  const Evaluation there = tried(**pool, late_wait(k0()), 1);
  Evaluation here = build(**setup, {.chain = {}, .edit = late_wait(k0()), .node = 1});
  judge(**setup, here, {});
  EXPECT_TRUE(there.passed()) << there.text;
  EXPECT_EQ(there.object, here.object);
  EXPECT_EQ(there.seconds, here.seconds);
  EXPECT_EQ(there.instructions, here.instructions);
  const auto profile = (*pool)->profile(0, there.object, std::vector<Proposed::Step>{{late_wait(k0()), 1}});
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_EQ(profile->kernels.size(), 1U);
  EXPECT_EQ(profile->kernels[0].kernel, "slow");
  double time = 0;
  for (const double t : profile->kernels[0].time) time += t;
  EXPECT_NEAR(time, 1, 0.01);
}

// Stopped, so that it stays at what it is asked.
std::unique_ptr<WorkerPool> with_a_worker_that_stands(WorkerPoolOptions o) {
  auto pool = WorkerPool::start(pair_request(), std::move(o));
  if (!pool) throw std::runtime_error(pool.error().message);
  EXPECT_TRUE((*pool)->build(0, {.chain = {}, .edit = late_wait(k0()), .node = 1}).passed());
  ::kill((*pool)->process(0), SIGSTOP);
  return *std::move(pool);
}

TEST(WorkerPool, AWorkerThatIsKilledCostsOneEvaluation) {
  const auto pool = with_a_worker_that_stands(options());
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ::kill(pool->process(0), SIGKILL);
  });
  Evaluation e;
  e.object = pair_request().k0;
  pool->judge(0, e, {});
  killer.join();
  EXPECT_EQ(e.outcome, Outcome::InfrastructureError);
  EXPECT_TRUE(tried(*pool, late_wait(k0())).passed());
  // While it does nothing: nothing is lost.
  ::kill(pool->process(0), SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(tried(*pool, late_wait(k0())).passed());
}

TEST(WorkerPool, WhatTakesTooLongIsAHang) {
  WorkerPoolOptions o = options();
  o.most_seconds = 0.3;
  const auto pool = with_a_worker_that_stands(std::move(o));
  Evaluation e;
  e.object = pair_request().k0;
  pool->judge(0, e, {});
  EXPECT_EQ(e.outcome, Outcome::Hang) << e.text;
  EXPECT_TRUE(pool->build(0, {.chain = {}, .edit = late_wait(k0()), .node = 1}).passed());
}

TEST(WorkerPool, WhatIsInterruptedSaysSo) {
  std::atomic<bool> interrupted = false;
  WorkerPoolOptions o = options();
  o.interrupted = &interrupted;
  const auto pool = with_a_worker_that_stands(std::move(o));
  interrupted = true;
  Evaluation e;
  e.object = pair_request().k0;
  pool->judge(0, e, {});
  EXPECT_EQ(e.outcome, Outcome::InfrastructureError);
  EXPECT_EQ(e.text, "interrupted");
}

TEST(WorkerPool, ASetupThatFailsSaysWhy) {
  SetupRequest request = pair_request();
  request.launch = "/nowhere.toml";
  const auto pool = WorkerPool::start(request, options());
  ASSERT_FALSE(pool);
  EXPECT_EQ(pool.error().kind, ErrorKind::BadInput);
  EXPECT_NE(pool.error().message.find("/nowhere.toml"), std::string::npos) << pool.error().message;
  WorkerPoolOptions no_program = options();
  no_program.program = "/nowhere/asmevo";
  const auto none = WorkerPool::start(pair_request(), std::move(no_program));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::Environment);
}

} // namespace
} // namespace asmevo::gate

// What rules find on top of a change that is worth nothing by itself.
//
// Writing out a loop wins little, but then the loads of its turns can be sent for together; so such a change
// (Rule::enables) is made without asking the gates, other rules look at what comes of it, one after the
// other, and all of it together is one proposal on the version that this began with.
#pragma once

#include "search/lineage.h"
#include "search/rules/rule.h"

namespace asmevo::search {

/// Proposals on `base`, whose kernel `k` the context is of: the enabling one with what the first rules found
/// on top of it, with what the next ones found on top of that, and so on. None where nobody found anything.
std::vector<Proposal> enabled_proposals(const Lineage&, const Lineage::Version& base,
                                        const gate::KernelTimes& k, const RuleContext&,
                                        const Proposal& enabling);

} // namespace asmevo::search

// How a report's page looks: readable on a phone of 320 px, two columns where there is room, light or dark as
// the reader's machine is.
#include "report/run_page.h"

namespace asmevo::report {

const std::string_view page_style = R"css(
:root {
  --ground: #f6f7f9; --card: #ffffff; --text: #1b2027; --quiet: #5c6672; --line: #dde1e6; --track: #e9ecf0;
  --accent: #0b66c3; --accent-soft: #e4f0fc; --before: #8b95a1; --good: #18794e; --good-soft: #e3f4ea;
  --bad: #c0392b; --bad-soft: #fdeae7; --warn: #7a5200; --warn-soft: #fff3d6;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #101418; --card: #181d23; --text: #e3e7ec; --quiet: #9aa5b1; --line: #2c343d; --track: #262d35;
    --accent: #5ea9f5; --accent-soft: #14304c; --before: #76818d; --good: #57c98c; --good-soft: #15362a;
    --bad: #f2857a; --bad-soft: #41201d; --warn: #f0c667; --warn-soft: #3a2f14;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 20px 14px 60px; }
p, dd, li { overflow-wrap: anywhere; }
small { color: var(--quiet); font-size: .85em; font-weight: 400; }
code, pre { font-family: var(--mono); font-size: .92em; }
h1 { margin: 0 0 10px; font: 600 1.2rem/1.35 var(--mono); overflow-wrap: anywhere; }
h2 { margin: 0 0 12px; font-size: 1.15rem; line-height: 1.3; }
h3 { margin: 22px 0 8px; font-size: 1rem; }
h4 { margin: 18px 0 8px; font-size: .9rem; color: var(--quiet); font-weight: 600; }
ul, ol { margin: 0; padding: 0; list-style: none; }
header, section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 18px 16px;
  margin-bottom: 14px; }
.eyebrow { margin: 0 0 2px; color: var(--quiet); font-size: .85rem; }
.claim { margin: 6px 0 12px; display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 12px; color: var(--quiet); }
.claim strong { font-size: clamp(2.4rem, 11vw, 3.6rem); line-height: 1; letter-spacing: -.02em; color: var(--good); }
.claim.none strong { font-size: 1.6rem; letter-spacing: 0; color: var(--text); }
.structural { margin: -4px 0 12px; color: var(--quiet); font-size: .92rem; }
.time { display: grid; grid-template-columns: 2.6rem 1fr auto; gap: 10px; align-items: center; margin: 4px 0; }
.time > span:first-child { color: var(--quiet); }
.time b { min-width: 5.5rem; text-align: right; font-variant-numeric: tabular-nums; }
.time .bar { height: 16px; }
.bar { display: block; height: 10px; background: var(--track); border-radius: 3px; overflow: hidden; }
.bar i { display: block; height: 100%; border-radius: 3px; min-width: 1px; background: var(--before); }
.bar i[style="width:0.0%"] { min-width: 0; }
.bar .after { background: var(--accent); } .bar .good { background: var(--good); }
.bar .bad { background: var(--bad); } .bar .faint { background: var(--before); opacity: .55; }
.chips { display: flex; flex-wrap: wrap; gap: 6px; margin: 14px 0 10px; }
.chip, .tag { border: 1px solid var(--line); border-radius: 999px; padding: 1px 10px; font-size: .82rem; color: var(--quiet); }
.chip.good { background: var(--good-soft); color: var(--good); border-color: transparent; font-weight: 600; }
.chip.bad { background: var(--bad-soft); color: var(--bad); border-color: transparent; font-weight: 600; }
.chip.busy { background: var(--accent-soft); color: var(--accent); border-color: transparent; font-weight: 600; }
.tag { padding: 0 8px; white-space: normal; overflow-wrap: anywhere; }
.caveat, .note { margin: 0; border-radius: 8px; padding: 10px 12px; font-size: .9rem; background: var(--warn-soft); color: var(--warn); }
.note { margin: 10px 0; }
.proof { margin: 0 0 12px; border-radius: 8px; padding: 10px 12px; background: var(--good-soft); color: var(--good); }
.charts { display: grid; gap: 14px; }
.chart { display: block; width: 100%; height: auto; overflow: visible; }
.chart text { font: 12px system-ui, sans-serif; fill: var(--quiet); font-variant-numeric: tabular-nums; }
.chart .node { font-weight: 700; fill: var(--good); }
.chart .grid { stroke: var(--line); } .chart .one { stroke: var(--before); stroke-dasharray: 3 3; }
.chart .axis { stroke: var(--before); } .chart .best { fill: none; stroke: var(--good); stroke-width: 2; }
.chart .commit { fill: var(--good); stroke: var(--card); stroke-width: 1.5; }
.chart .slow { fill: var(--before); opacity: .75; } .chart .refused { stroke: var(--bad); stroke-width: 1.5; opacity: .8; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 10px 0 0; font-size: .85rem; color: var(--quiet); }
.key { display: inline-block; width: 10px; height: 10px; border-radius: 5px; margin-right: 6px; background: var(--before); }
.key.commit { background: var(--good); } .key.after { background: var(--accent); border-radius: 2px; }
.key.before { border-radius: 2px; } .key.refused { background: var(--bad); width: 3px; border-radius: 0; }
.lineage li { position: relative; padding: 0 0 12px 20px; border-left: 2px solid var(--line); margin-left: 5px; }
.lineage li:last-child { border-color: transparent; padding-bottom: 0; }
.lineage li::before { content: ""; position: absolute; left: -6px; top: 7px; width: 10px; height: 10px; border-radius: 5px;
  background: var(--before); }
.lineage li.best::before { background: var(--good); box-shadow: 0 0 0 4px var(--good-soft); }
.lineage p { margin: 2px 0 0; color: var(--quiet); font-size: .92rem; }
.lineage .lane1 { margin-left: 25px; } .lineage .lane2 { margin-left: 45px; } .lineage .lane3 { margin-left: 65px; }
.lineage .lane4 { margin-left: 85px; } .lineage .lane5 { margin-left: 105px; }
.x { font-weight: 600; color: var(--good); font-variant-numeric: tabular-nums; }
section > p { margin: 0 0 12px; color: var(--quiet); font-size: .92rem; }
section > p.proof { color: var(--good); } section > p.note { color: var(--warn); }
.outcomes li { display: grid; grid-template-columns: auto auto 1fr auto; gap: 2px 8px; align-items: baseline; padding: 7px 0;
  border-top: 1px solid var(--line); }
.outcomes b { font: 600 .88rem var(--mono); overflow-wrap: anywhere; }
.outcomes .n { grid-column: 4; font-weight: 600; font-variant-numeric: tabular-nums; }
.outcomes .bar, .outcomes p { grid-column: 1 / -1; }
.outcomes p { margin: 0; font-size: .85rem; color: var(--quiet); }
.outcomes .zero { opacity: .6; } .outcomes .zero .bar { display: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; margin-bottom: 6px; }
th, td { padding: 6px; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top;
  font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 500; overflow-wrap: break-word; }
tbody th { overflow-wrap: anywhere; min-width: 6.5rem; }
thead th { color: var(--quiet); font-size: .82rem; text-align: right; } thead th:first-child { text-align: left; }
.figures td { white-space: nowrap; }
th[scope="rowgroup"] { font: 600 .85rem var(--mono); padding-top: 12px; }
.differs td:last-child { color: var(--accent); font-weight: 600; }
.to { color: var(--accent); white-space: nowrap; }
details.commit { border-top: 1px solid var(--line); padding: 10px 0; }
summary { cursor: pointer; } summary small { margin-left: 4px; }
.minus { color: var(--bad); } .plus { color: var(--good); }
details.commit > p { margin: 6px 0; color: var(--quiet); }
.code { border: 1px solid var(--line); border-radius: 8px; overflow: hidden; margin: 10px 0; font-size: .78rem; line-height: 1.6; }
.code .function { margin: 0; padding: 5px 10px; border-bottom: 1px solid var(--line); font-family: var(--mono); color: var(--quiet); }
.code .l { display: grid; grid-template-columns: 2.9rem minmax(0, 1fr) auto; gap: 8px; padding: 0 8px 0 2px; align-items: baseline; }
.code .id { font-family: var(--mono); color: var(--quiet); text-align: right; overflow-wrap: anywhere; }
.code code { font-size: inherit; white-space: pre-wrap; overflow-wrap: anywhere; padding-left: 1.6em; text-indent: -1.6em; }
.code .share { color: var(--quiet); font-size: .9em; white-space: nowrap; }
.code .old code::before { content: "\2212\00a0"; color: var(--bad); } .code .new code::before { content: "+\00a0"; color: var(--good); }
.code .same code::before { content: "\00a0\00a0"; }
.code .old .l { background: var(--bad-soft); } .code .new .l { background: var(--good-soft); }
.code .again { display: none; }
.limiters { margin: 0 0 4px; } .limiters dt { font-weight: 600; margin-top: 8px; } .limiters dd { margin: 0; }
.pairs li { display: grid; grid-template-columns: 1fr; gap: 2px; padding: 5px 0; font-size: .88rem; }
.pairs li > span { overflow-wrap: anywhere; }
.pairs div { display: grid; grid-template-columns: minmax(0, 1fr) 4.2rem; gap: 3px 8px; align-items: center; }
.pairs b { text-align: right; font-weight: 500; font-variant-numeric: tabular-nums; font-size: .85rem; }
.rows { margin: 0; } .rows > div { padding: 7px 0; border-top: 1px solid var(--line); }
.rows dt { color: var(--quiet); font-size: .88rem; } .rows dd { margin: 0; }
.plain li { padding: 3px 0 3px 14px; text-indent: -14px; font-size: .88rem; } .plain li::before { content: "\00b7"; display: inline-block;
  width: 14px; text-indent: 0; color: var(--quiet); }
.failures li { border-left: 3px solid var(--bad-soft); padding: 2px 0 2px 12px; margin: 0 0 10px; }
.failures p { margin: 0; font-size: .9rem; } .failures .said { font-family: var(--mono); font-size: .85rem; }
.command { margin: 0 0 10px; padding: 12px; border-radius: 8px; background: var(--track); white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 480px) {
  table { font-size: .8rem; } thead th { font-size: .74rem; } th, td { padding: 6px 3px; }
  tbody th { min-width: 4.2rem; } .to { display: block; }
}
@media (min-width: 720px) {
  main { padding: 32px 24px 80px; }
  header, section { padding: 24px 28px; }
  .charts, .columns { display: grid; grid-template-columns: 1fr 1fr; gap: 28px; }
  .code { display: grid; grid-template-columns: 1fr 1fr; }
  .code .function { grid-column: 1 / -1; }
  .code .again { display: block; }
  .code > div:nth-of-type(odd) { border-right: 1px solid var(--line); }
  .outcomes li { grid-template-columns: 13rem 3.4rem 3rem minmax(0, 14rem) minmax(0, 1fr); gap: 0 12px; align-items: center; }
  .outcomes .n { grid-column: 3; text-align: right; } .outcomes .bar { grid-column: 4; } .outcomes p { grid-column: 5; }
  .figures th, .figures td { padding: 6px 10px; }
  .pairs li { grid-template-columns: 13.5rem minmax(0, 1fr); gap: 10px; align-items: center; font-size: .84rem; }
  .rows > div { display: grid; grid-template-columns: 9rem minmax(0, 1fr); gap: 14px; }
}
@media print { body { background: #fff; } header, section { break-inside: avoid; border: 0; } }
)css";

} // namespace asmevo::report

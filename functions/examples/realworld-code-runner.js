// An online judge: a submission is compiled from its text, run on test cases, and scored.
// tier: extended
// It needs the tier extended only for Function. The sandbox is the same in every tier.

const equal = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function grade({ author, code }, cases) {
  let solve;
  try {
    solve = new Function(`"use strict"; ${code}; return solve;`)();
  } catch (e) {
    return { author, score: 0, verdict: `does not compile: ${e.name}` };
  }
  const wrong = cases.findIndex(({ args, want }) => {
    try {
      return !equal(solve(...structuredClone(args)), want);
    } catch {
      return true;
    }
  });
  const passed = wrong < 0 ? cases.length : wrong;
  return { author, score: Math.round((100 * passed) / cases.length), verdict: wrong < 0 ? "accepted" : `wrong answer on case ${wrong + 1}` };
}

export default ({ submissions, cases }) => {
  const graded = submissions.map((s) => grade(s, cases)).sort((a, b) => b.score - a.score);
  for (const { author, score, verdict } of graded) console.log(`${author}: ${score} ${verdict}`);
  return graded[0].author;
};

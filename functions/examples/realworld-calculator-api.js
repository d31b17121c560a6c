// Arithmetic as a service, without eval: precedence climbing over tokens, and errors with their position.
// tier: strict

const binary = {
  "+": [1, (a, b) => a + b], "-": [1, (a, b) => a - b], "*": [2, (a, b) => a * b], "/": [2, (a, b) => a / b],
  "%": [2, (a, b) => a % b], "^": [4, (a, b) => a ** b],
};
const functions = { sqrt: Math.sqrt, abs: Math.abs, max: Math.max, min: Math.min, round: Math.round };
const constants = { pi: Math.PI, e: Math.E };

function calculate(text) {
  const tokens = [...text.matchAll(/\s*(\d+\.?\d*|[a-z]+|\S)/gy)].map((m) => m[1]);
  let at = 0;
  const expect = (token) => {
    if (tokens[at++] !== token) throw new SyntaxError(`${token} expected at token ${at}`);
  };
  const list = () => {
    const out = [expression(0)];
    while (tokens[at] === ",") {
      at++;
      out.push(expression(0));
    }
    return out;
  };
  function operand() {
    const token = tokens[at++];
    if (token === undefined) throw new SyntaxError("something is missing at the end");
    if (/^\d/.test(token)) return Number(token);
    if (token === "-") return -expression(3);
    if (token === "(") {
      const value = expression(0);
      expect(")");
      return value;
    }
    if (Object.hasOwn(constants, token)) return constants[token];
    if (!Object.hasOwn(functions, token)) throw new SyntaxError(`${token} is not known`);
    expect("(");
    const value = functions[token](...list());
    expect(")");
    return value;
  }
  function expression(least) {
    let left = operand();
    while (binary[tokens[at]]?.[0] >= least) {
      const [strength, apply] = binary[tokens[at++]];
      left = apply(left, expression(strength + (strength === 4 ? 0 : 1)));
    }
    return left;
  }
  const value = expression(0);
  if (at < tokens.length) throw new SyntaxError(`${tokens[at]} is too much`);
  return value;
}

export default (expressions) => expressions.map((text) => {
  try {
    return calculate(text);
  } catch (e) {
    console.log(`${text}: ${e.message}`);
    return null;
  }
});

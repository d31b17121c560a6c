// The smallest useful execution: something printed, and the value of the last expression.
// tier: strict

const fibonacci = (n) => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2));
const numbers = Array.from({ length: 11 }, (_, n) => fibonacci(n));
console.log("fibonacci:", numbers.join(" "));
numbers.at(-1);

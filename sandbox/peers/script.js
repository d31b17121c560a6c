const words = 'the quick brown fox jumps over the lazy dog'.split(' ');
const counts = {};
for (const word of words) {
  counts[word] = (counts[word] ?? 0) + 1;
}
const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2));
const numbers = [1, 2, 3, 4, 5].map((n) => n * n).filter((n) => n % 2);
const text = JSON.stringify({ counts, numbers });
const sum = numbers.reduce((a, b) => a + b, 0);
JSON.stringify({ sum, fib: fib(10), length: text.length, the: counts.the });

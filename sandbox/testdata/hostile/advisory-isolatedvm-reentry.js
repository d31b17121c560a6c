// Arguments of host operations that call host operations while they are read wait for nobody and confuse nothing.
// The deadlock and recursion tests of isolated-vm: calls that go back and forth between the sides.
// expect: value 40 or limit stack
// grant: node
const fs = require('fs');
let n = 0;
const key = () => ({ toString() {
  n++;
  if (n < 40) {
    new URL(key(), 'http://a.example/');
    new Headers([[key(), 'b']]);
    fs.writeFileSync('/' + n, key().toString());
    structuredClone({ get a() { return atob(btoa(key())); } });
    console.log({ [Symbol.for('nodejs.util.inspect.custom')]: () => String(key()) });
  }
  return 'k' + n;
} });
String(key());
return Math.min(n, 40);

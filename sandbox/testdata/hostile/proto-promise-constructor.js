// The constructor that await looks at throws.
// expect: value 1
Object.defineProperty(Promise.prototype, 'constructor', { get() { return Object; } });
return 1;

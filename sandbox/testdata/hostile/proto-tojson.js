// toJSON on Object.prototype changes the guest's own result only.
// expect: value "mine"
Object.prototype.toJSON = () => 'mine';
return { a: 1 };

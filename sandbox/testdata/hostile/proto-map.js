// Map and Set belong to the guest.
// expect: value 3
Map.prototype.get = Map.prototype.set = Map.prototype.delete = () => { throw new Error('map'); };
return await new Promise((done) => setTimeout(done, 1, 3));

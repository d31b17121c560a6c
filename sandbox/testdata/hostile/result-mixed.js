// Values beyond JSON.
// expect: value {"big":"9007199254740993","date":"1970-01-01T00:00:00.000Z","map":{"a":1},"set":[1,2],"none":null}
return { big: 9007199254740993n, date: new Date(0), map: new Map([['a', 1]]), set: new Set([1, 2]), none: undefined };

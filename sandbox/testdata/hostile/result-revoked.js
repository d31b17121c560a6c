// A Proxy that was revoked.
// expect: error any
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
return proxy;

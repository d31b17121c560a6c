// Node's path, for POSIX and for Windows.
(host, internal) => {
  'use strict';
  const { modules } = internal;
  const check = (v, name) => {
    if (typeof v !== 'string') throw internal.nodeWrongType(name, 'of type string', v);
    return v;
  };

  // clean resolves . and .. in the segments of a path.
  const clean = (path, absolute) => {
    const out = [];
    for (const part of path.split('/')) {
      if (part === '' || part === '.') continue;
      if (part !== '..') out.push(part);
      else if (out.length > 0 && out[out.length - 1] !== '..') out.pop();
      else if (!absolute) out.push('..');
    }
    return out.join('/');
  };

  const posix = {
    sep: '/', delimiter: ':',
    resolve(...parts) {
      let path = '', absolute = false;
      for (let i = parts.length - 1; i >= 0 && !absolute; i--) {
        if (check(parts[i], `paths[${i}]`) === '') continue;
        path = path === '' ? parts[i] : parts[i] + '/' + path;
        absolute = parts[i][0] === '/';
      }
      return '/' + clean(absolute ? path : `${internal.cwd()}/${path}`, true);
    },
    normalize(path) {
      if (check(path, 'path') === '') return '.';
      const absolute = path[0] === '/';
      let out = clean(path, absolute);
      if (out === '') return absolute ? '/' : path.endsWith('/') ? './' : '.';
      if (path.endsWith('/')) out += '/';
      return absolute ? '/' + out : out;
    },
    isAbsolute(path) { return check(path, 'path')[0] === '/'; },
    join(...parts) {
      const path = parts.filter((p) => check(p, 'path') !== '').join('/');
      return path === '' ? '.' : posix.normalize(path);
    },
    relative(from, to) {
      check(from, 'from');
      check(to, 'to');
      const a = posix.resolve(from).split('/').filter(Boolean), b = posix.resolve(to).split('/').filter(Boolean);
      let i = 0;
      while (i < a.length && i < b.length && a[i] === b[i]) i++;
      return [...a.slice(i).map(() => '..'), ...b.slice(i)].join('/');
    },
    toNamespacedPath: (path) => path,
    dirname(path) {
      if (check(path, 'path') === '') return '.';
      let end = path.length;
      while (end > 1 && path[end - 1] === '/') end--;
      const i = path.lastIndexOf('/', end - 1);
      if (end === 1 && path[0] === '/') return '/';
      if (i < 0) return '.';
      if (i === 0) return '/';
      if (i === 1 && path[0] === '/') return '//';
      return path.slice(0, i);
    },
    basename(path, suffix) {
      if (suffix !== undefined) check(suffix, 'suffix');
      let end = check(path, 'path').length;
      if (suffix === path && suffix !== '') return '';
      while (end > 0 && path[end - 1] === '/') end--;
      const base = path.slice(path.lastIndexOf('/', end - 1) + 1, end);
      return suffix && base !== suffix && base.endsWith(suffix) ? base.slice(0, -suffix.length) : base;
    },
    extname(path) {
      const base = posix.basename(check(path, 'path'));
      const i = base.lastIndexOf('.');
      return i <= 0 || base === '..' ? '' : base.slice(i);
    },
    format(o) {
      if (o === null || typeof o !== 'object') throw internal.nodeWrongType('pathObject', 'of type object', o);
      const dir = o.dir || o.root, base = o.base || (o.name || '') + (o.ext ? (o.ext[0] === '.' ? '' : '.') + o.ext : '');
      if (!dir) return base;
      return dir === o.root ? dir + base : dir + '/' + base;
    },
    parse(path) {
      check(path, 'path');
      const root = path[0] === '/' ? '/' : '';
      const base = posix.basename(path), ext = posix.extname(path);
      let end = path.length;
      while (end > 1 && path[end - 1] === '/') end--;
      const i = path.lastIndexOf('/', end - 1);
      const dir = i > 0 ? path.slice(0, i) : i === 0 ? '/' : '';
      return { root, dir, base, ext, name: ext === '' ? base : base.slice(0, -ext.length) };
    },
    matchesGlob(path, pattern) {
      const source = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*\*\/?|\*|\?/g, (m) => m[1] === '*' ? '.*' : m === '*' ? '[^/]*' : '[^/]');
      return new RegExp(`^${source}$`).test(path);
    },
  };
  const isSep = (c) => c === '/' || c === '\\';
  const segments = (path) => path.split(/[\\/]+/).filter(Boolean);

  // rootOf returns the device of a Windows path, the index after its root, and whether the path is absolute.
  const rootOf = (path) => {
    const share = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)/.exec(path);
    if (share) {
      const n = share[0].length;
      return { device: `\\\\${share[1]}\\${share[2]}`, end: n + (isSep(path[n]) ? 1 : 0), absolute: true };
    }
    const device = /^[A-Za-z]:/.test(path) ? path.slice(0, 2) : '';
    const absolute = isSep(path[device.length]);
    return { device, end: device.length + (absolute ? 1 : 0), absolute };
  };
  // cut returns the index where the root of a Windows path ends, and those where its last part begins and ends.
  const cut = (path) => {
    const { end: root } = rootOf(path);
    let end = path.length;
    while (end > root && isSep(path[end - 1])) end--;
    let start = end;
    while (start > root && !isSep(path[start - 1])) start--;
    return { root, start, end };
  };

  const win32 = {
    ...posix, sep: '\\', delimiter: ';',
    resolve(...parts) {
      let device = '', tail = '', absolute = false;
      for (let i = parts.length - 1; i >= -1 && !(absolute && device !== ''); i--) {
        const path = i < 0 ? internal.cwd() : check(parts[i], `paths[${i}]`);
        if (path === '') continue;
        const root = rootOf(path);
        if (root.device !== '' && device !== '' && root.device.toLowerCase() !== device.toLowerCase()) continue;
        device ||= root.device;
        if (!absolute) {
          tail = path.slice(root.end) + '\\' + tail;
          absolute = root.absolute;
        }
      }
      return device + (absolute ? '\\' : '') + win32Clean(tail, absolute) || '.';
    },
    normalize(path) {
      if (check(path, 'path') === '') return '.';
      const { device, end, absolute } = rootOf(path);
      let tail = win32Clean(path.slice(end), absolute);
      if (tail === '' && !absolute) tail = '.';
      if (tail !== '' && isSep(path[path.length - 1])) tail += '\\';
      return device + (absolute ? '\\' : '') + tail;
    },
    isAbsolute: (path) => rootOf(check(path, 'path')).absolute,
    join(...parts) {
      const given = parts.filter((p) => check(p, 'path') !== '');
      if (given.length === 0) return '.';
      const path = given.join('\\');
      // The joined path is a share only if its first part names one.
      return win32.normalize(/^[\\/]{2}[^\\/]/.test(given[0]) ? path : path.replace(/^[\\/]{2,}/, '\\'));
    },
    relative(from, to) {
      check(from, 'from');
      check(to, 'to');
      const a = win32.resolve(from), b = win32.resolve(to);
      if (a.toLowerCase() === b.toLowerCase()) return '';
      const x = segments(a), y = segments(b);
      let i = 0;
      while (i < x.length && i < y.length && x[i].toLowerCase() === y[i].toLowerCase()) i++;
      if (i === 0 && rootOf(b).device !== '') return b;
      return [...x.slice(i).map(() => '..'), ...y.slice(i)].join('\\');
    },
    dirname(path) {
      if (check(path, 'path') === '') return '.';
      const { root, start } = cut(path);
      return start > root ? path.slice(0, start - 1) : path.slice(0, root) || '.';
    },
    basename(path, suffix) {
      if (suffix !== undefined) check(suffix, 'suffix');
      check(path, 'path');
      return posix.basename(path.slice(/^[A-Za-z]:/.test(path) ? 2 : 0).replaceAll('\\', '/'), suffix);
    },
    extname: (path) => posix.extname(win32.basename(check(path, 'path'))),
    format(o) {
      const path = posix.format(o), dir = o.dir || o.root;
      return dir && dir !== o.root ? dir + '\\' + path.slice(dir.length + 1) : path;
    },
    parse(path) {
      const { root, start, end } = cut(check(path, 'path'));
      const base = path.slice(start, end), ext = posix.extname(base);
      return {
        root: path.slice(0, root), dir: path.slice(0, start > root ? start - 1 : root), base, ext,
        name: ext === '' ? base : base.slice(0, -ext.length),
      };
    },
    matchesGlob: (path, pattern) => posix.matchesGlob(path.replaceAll('\\', '/'), pattern.replaceAll('\\', '/')),
  };
  const win32Clean = (path, absolute) => clean(path.replaceAll('\\', '/'), absolute).replaceAll('/', '\\');
  win32.toNamespacedPath = function toNamespacedPath(path) {
    if (typeof path !== 'string' || path === '') return path;
    const full = win32.resolve(path);
    if (full.length <= 2) return path;
    if (full.startsWith('\\\\') && full[2] !== '?' && full[2] !== '.') return `\\\\?\\UNC\\${full.slice(2)}${/^\\\\[^\\]+\\[^\\]+$/.test(full) ? '\\' : ''}`;
    return /^[A-Za-z]:\\/.test(full) ? `\\\\?\\${full}` : full;
  };
  posix._makeLong = posix.toNamespacedPath;
  win32._makeLong = win32.toNamespacedPath;
  posix.posix = win32.posix = posix;
  posix.win32 = win32.win32 = win32;
  modules.path = modules['path/posix'] = posix;
  modules['path/win32'] = win32;
  return internal;
}

// The address of a view in the fragment of the URL: #/objects/apps/v1/deployments/shop/web. It has no credentials.

/** Returns the segments of the fragment, decoded. */
export function segments() {
  return location.hash
    .replace(/^#\/?/, '')
    .split('/')
    .filter((part) => part !== '')
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
}

export const link = (...parts) => `#/${parts.map((part) => encodeURIComponent(part)).join('/')}`;

/** Stands for the core group and for all namespaces, since segments are not empty. */
export const none = '-';

/** Returns the address of a kind, or of an object of it; `scope` is the namespace of the list beside the object. */
export function objectLink(kind, namespace = '', name = '', scope = namespace) {
  const object = name === '' ? [] : [namespace || none, name];
  return link('objects', kind.group || none, kind.plural, scope || none, ...object);
}

/**
 * Parts of the descriptions of requests that still hold the event loop for too long. A short run does not send them; a
 * long one sends and reports them, and does not fail by them. The aim is an empty list.
 */
export const knownSlow: readonly string[] = [
  // Bodies of as many values as are accepted: reading, checking, recording owners and writing are one turn each.
  ...['JSON fields that are numbers', 'equal JSON fields', 'unknown JSON fields'],
  ...['different YAML keys', 'anchors and aliases', 'CBOR keys'],
  // Patches: the result is made, and its owners computed, before its values are counted.
  ...['deep pointers (jsonPatch)', 'different keys (mergePatch)', 'containers by name'],
  ...['data of a map', 'finalizers, a set', 'fields of one owner', '/configmaps/owned: owned'],
  // Eighty watchers at once, each with a selector of 36 KB.
  ...['watchers by many requirements'],
  // Definitions near the bounds: validation, and reconcilers that read and write them whole; values of custom kinds.
  ...[
    'schema: wide',
    'schema: defaults',
    'schema: a large default',
    'schema: required',
    'schema: categories',
    'schema: descr',
  ],
  ...['value: a set', 'value: a list'],
  // Roles of as many values as are accepted: written, checked and shown in one turn each.
  ...['role with '],
  ...['review: a raw selector', 'review: extra'],
  // Objects of 75,000 keys in other forms than they are kept in.
  ...['many keys', '/configmaps/wide: answers', 'many rules as YAML'],
  // An update of a Pod is refused with the whole difference in the message; long names of ports are shown in every error.
  ...['PUT /api/v1/namespaces/attack/pods/debug', 'services.v1 spec.ports'],
];

export const isKnownSlow = (request: string): boolean => knownSlow.some((known) => request.includes(known));

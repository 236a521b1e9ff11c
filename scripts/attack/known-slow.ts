/**
 * Parts of the descriptions of requests that still hold the event loop for too long. A short run does not send them; a
 * long one sends and reports them, and does not fail by them. The aim is an empty list.
 */
export const knownSlow: readonly string[] = [
  // Server-side apply: the sets of fields of all owners are computed in few turns.
  ...['data of a map', 'finalizers, a set', 'fields of one owner', '/configmaps/owned: owned'],
  // A custom object with 50,000 defaults: the fields of its creator are put in order one by one.
  'schema: defaults, an object',
];

export const isKnownSlow = (request: string): boolean => knownSlow.some((known) => request.includes(known));

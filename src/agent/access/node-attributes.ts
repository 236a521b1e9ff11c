/** Verbs of the API by method of the request; other methods have an empty verb, which no rule but `*` allows. */
const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

export const verbOf = (method: string): string => (Object.hasOwn(verbs, method) ? verbs[method]! : '');

/** Subresources of `nodes` by the first step of the path; all others are `proxy`. */
const subresources: ReadonlyMap<string, string> = new Map([
  ['stats', 'stats'],
  ['metrics', 'metrics'],
  ['logs', 'log'],
  ['spec', 'spec'],
]);

/** Narrower subresources that allow a path of `proxy` too. As the kubelet with the gate KubeletFineGrainedAuthz. */
const fineGrained: ReadonlyMap<string, string> = new Map([
  ['pods', 'pods'],
  ['runningpods', 'pods'],
  ['healthz', 'healthz'],
  ['configz', 'configz'],
]);
const alwaysNarrow: ReadonlyMap<string, string> = new Map([['checkpoint', 'checkpoint']]);

/** Returns the subresources of which one must be allowed for a decoded path, in the order in which they are asked for. */
export function subresourcesOf(path: string, isFineGrained: boolean): readonly string[] {
  const first = path.split('/', 2)[1] ?? '';
  const own = subresources.get(first);
  if (own !== undefined) return [own];
  const narrow = alwaysNarrow.get(first) ?? (isFineGrained ? fineGrained.get(first) : undefined);
  return narrow === undefined ? ['proxy'] : [narrow, 'proxy'];
}

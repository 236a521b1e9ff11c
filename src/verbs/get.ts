import { lensOf } from './lens.js';
import type { Target, VerbAnswer } from './verb.js';

export async function getObject(
  target: Target,
  subresource: string,
  resourceVersion: string | undefined,
): Promise<VerbAnswer> {
  const { store } = target.served;
  const lens = subresource === '' ? undefined : lensOf(target.served, subresource, 'get');
  const encoded = await store.get(target.namespace, target.name, { resourceVersion });
  if (!lens?.viewKind) return { type: 'stored', code: 200, encoded };
  return { type: 'made', code: 200, object: lens.view(encoded.parse()) };
}

import { ClientError } from '../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { selectorOf } from './object-paths.js';

/**
 * Finds the oldest resourceVersion that a server can read, by reading an object at resourceVersions up to `head`: some 20
 * requests. Compaction may go on meanwhile.
 */
export async function oldestRevision(
  client: KubeconfigClient,
  { collection, name }: { readonly collection: string; readonly name: string },
  head: string,
): Promise<string> {
  if (!/^\d+$/.test(head))
    throw new ClientError('Status', `the server has a resourceVersion that is no number: ${head}`);
  let tooOld = 0n;
  let readable = BigInt(head);
  while (readable - tooOld > 1n) {
    const middle = tooOld === 0n ? 1n : (tooOld + readable) / 2n;
    const query = {
      fieldSelector: selectorOf(name),
      resourceVersion: String(middle),
      resourceVersionMatch: 'Exact',
    };
    try {
      await client.list(collection, { query });
      readable = middle;
    } catch (error) {
      if (!isExpired(error)) throw error;
      tooOld = middle;
    }
  }
  return String(readable);
}

/** True if a resourceVersion is older than what the server has. */
export const isExpired = (error: unknown): boolean =>
  error instanceof ClientError && (error.status === 410 || error.reason === 'Expired');

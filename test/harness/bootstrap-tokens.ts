import { createHmac } from 'node:crypto';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { asFields, asText } from '../../src/machinery/fields.js';

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A Secret of a bootstrap token that may be used for everything. `data` replaces or adds values. */
export function tokenSecret(
  id: string,
  secret: string,
  data: Record<string, string> = {},
  type = 'bootstrap.kubernetes.io/token',
) {
  const usages = { 'usage-bootstrap-authentication': 'true', 'usage-bootstrap-signing': 'true' };
  const all = { 'token-id': id, 'token-secret': secret, ...usages, ...data };
  return {
    metadata: { name: `bootstrap-token-${id}` },
    type,
    data: Object.fromEntries(Object.entries(all).map(([key, text]) => [key, base64(text)])),
  };
}

export const dataOf = (object: KubeObject | undefined) => asFields(object?.['data']);

export const signatureOf = (info: KubeObject | undefined, id: string) => asText(dataOf(info)[`jws-kubeconfig-${id}`]);

/** Verifies a detached signature as a joining node does: it accepts HS256 and the id of its token only. */
export function isSignedBy(info: KubeObject | undefined, id: string, key: string): boolean {
  const [header = '', payload, signature, ...rest] = signatureOf(info, id).split('.');
  if (payload !== '' || signature === undefined || rest.length > 0) return false;
  const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as Record<string, unknown>;
  const content = Buffer.from(asText(dataOf(info)['kubeconfig'])).toString('base64url');
  const want = createHmac('sha256', key).update(`${header}.${content}`).digest('base64url');
  return alg === 'HS256' && kid === id && signature === want;
}

import { decodeJson, encodeJson } from '../codec/json.js';
import { ClientError } from '../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { collectionPath, ServedKinds } from '../kubeconfig-client/served-kinds.js';
import { asFields, asText, type Fields } from '../machinery/fields.js';

export interface AdmissionOptions {
  readonly as?: string;
  readonly asGroup: readonly string[];
  readonly namespace?: string;
  readonly operation?: 'create' | 'update' | 'delete';
}

/** The explanation of admission for one object of the file. */
export interface ExplainedObject {
  /** `create pods "web" in the namespace "shop"` */
  readonly request: string;
  /** The HTTP status of the answer that the client would have got. */
  readonly code: number;
  readonly explanation: Fields;
}

/** Sends the object as a dry run, and returns the explanation of the server. */
export async function explainedObject(
  client: KubeconfigClient,
  object: Fields,
  options: AdmissionOptions,
): Promise<ExplainedObject> {
  const served = await new ServedKinds(client).of(object);
  const { plural, isNamespaced } = served;
  const metadata = asFields(object['metadata']);
  const name = asText(metadata['name']);
  const namespace = isNamespaced ? asText(metadata['namespace']) || (options.namespace ?? client.namespace) : '';
  const collection = collectionPath(served, namespace);
  const itself = `${collection}/${encodeURIComponent(name)}`;
  const live = options.operation === 'create' || name === '' ? undefined : await found(client, itself);
  const operation = options.operation ?? (live ? 'update' : 'create');
  const resourceVersion = metadata['resourceVersion'] ?? asFields(live?.['metadata'])['resourceVersion'];
  const body = operation === 'update' ? { ...object, metadata: { ...metadata, resourceVersion } } : object;
  const answer = await client.request({
    method: { create: 'POST', update: 'PUT', delete: 'DELETE' }[operation],
    path: operation === 'create' ? collection : itself,
    query: { dryRun: 'All' },
    headers: {
      'Keelson-Explain': 'admission',
      ...(operation !== 'delete' && { 'Content-Type': 'application/json' }),
      ...impersonation(options),
    },
    ...(operation !== 'delete' && { body: encodeJson(body) }),
  });
  const explanation = asFields(decoded(answer.body));
  if (explanation['kind'] !== 'AdmissionExplanation') {
    throw new ClientError('Status', asText(explanation['message']) || 'the server does not explain admission');
  }
  const shownName = name === '' ? '' : ` "${name}"`;
  const scope = namespace === '' ? '' : ` in the namespace "${namespace}"`;
  return { request: `${operation} ${plural}${shownName}${scope}`, code: answer.status, explanation };
}

async function found(client: KubeconfigClient, path: string): Promise<Fields | undefined> {
  const { status, body } = await client.request({ method: 'GET', path });
  if (status === 404) return undefined;
  const object = asFields(decoded(body));
  if (status !== 200) throw new ClientError('Status', asText(object['message']) || `the server answered ${status}`);
  return object;
}

function impersonation({ as: user = '', asGroup }: AdmissionOptions): Record<string, string | string[]> {
  if (user === '') return {};
  return { 'Impersonate-User': user, ...(asGroup.length > 0 && { 'Impersonate-Group': [...asGroup] }) };
}

function decoded(body: Buffer): unknown {
  try {
    return decodeJson(body);
  } catch {
    throw new ClientError('Connection', 'the answer is not JSON; check server in the kubeconfig');
  }
}

/** Short manifests. Absent arguments give absent fields, since an empty map is something else. */
export const configMap = (name: string, data = '', labels = ''): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}${labels && `, labels: {${labels}}`}}\n${data && `data: {${data}}\n`}`;

export const workload = (
  kind: 'Deployment' | 'StatefulSet' | 'DaemonSet' | 'ReplicaSet',
  name: string,
  image: string,
) =>
  `apiVersion: apps/v1\nkind: ${kind}\nmetadata: {name: ${name}, labels: {app: ${name}}}\n` +
  `spec: {selector: {matchLabels: {app: ${name}}}, ${kind === 'StatefulSet' ? `serviceName: ${name}, ` : ''}` +
  `template: {metadata: {labels: {app: ${name}}}, spec: {containers: [{name: main, image: '${image}'}]}}}\n`;

/** Without a service account token, so that it needs no token Secret. */
export const pod = (name: string, metadata = ''): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}, labels: {app: ${name}}${metadata && `, ${metadata}`}}\n` +
  'spec: {automountServiceAccountToken: false, containers: [{name: main, image: example.com/app:1}]}\n';

/** An owner reference that blocks the owner's deletion: `uid` may be a value that an earlier step kept. */
export const ownedBy = (kind: string, name: string, uid: string): string =>
  `ownerReferences: [{apiVersion: apps/v1, kind: ${kind}, name: ${name}, uid: '${uid}', controller: true, blockOwnerDeletion: true}]`;

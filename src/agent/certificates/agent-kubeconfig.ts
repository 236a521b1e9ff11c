import { resolve } from 'node:path';
import { stringifyJson } from '../../codec/json.js';
import { CertificateError } from '../../certificates/certificate-error.js';
import { createAtomically, readIfThere, writeAtomically } from '../../certificates/private-files.js';
import type { Kubeconfig } from '../../kubeconfig-client/kubeconfig.js';

/** First line of the kubeconfigs that the agent has written, and may replace. */
const mark = '# Written by keelson agent from its --bootstrap-kubeconfig; replaced when that is used again.';

/** Returns a kubeconfig for the server of a bootstrap kubeconfig, with the client certificate in a file. */
export function agentKubeconfig({ cluster, namespace }: Kubeconfig, certificateFile: string): string {
  const { certificateAuthority: ca, tlsServerName, skipsTlsVerify, server } = cluster;
  // JSON is YAML, and escapes every text.
  const text = (value: string) => stringifyJson(value);
  const file = text(resolve(certificateFile));
  return [
    mark,
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: default-cluster',
    '  cluster:',
    `    server: ${text(server.href.replace(/\/$/, ''))}`,
    ...(ca && 'file' in ca ? [`    certificate-authority: ${text(ca.file)}`] : []),
    ...(ca && 'data' in ca ? [`    certificate-authority-data: ${ca.data.toString('base64')}`] : []),
    ...(tlsServerName === undefined ? [] : [`    tls-server-name: ${text(tlsServerName)}`]),
    ...(skipsTlsVerify ? ['    insecure-skip-tls-verify: true'] : []),
    'contexts:',
    '- name: default-context',
    '  context:',
    '    cluster: default-cluster',
    '    user: default-auth',
    `    namespace: ${text(namespace || 'default')}`,
    'current-context: default-context',
    'users:',
    '- name: default-auth',
    '  user:',
    `    client-certificate: ${file}`,
    `    client-key: ${file}`,
    '',
  ].join('\n');
}

/** True if the agent has written this kubeconfig. */
export async function isOwnKubeconfig(file: string): Promise<boolean> {
  return (await readIfThere(file))?.startsWith(`${mark}\n`) ?? false;
}

/** Writes the kubeconfig, readable by its owner only. Rejects if there is a file that the agent has not written. */
export async function writeAgentKubeconfig(file: string, text: string): Promise<void> {
  if (await createAtomically(file, text, 0o600)) return;
  if (!(await isOwnKubeconfig(file))) {
    throw new CertificateError(`${file} was not written by the agent, and is not overwritten; move it away`);
  }
  await writeAtomically(file, text, 0o600);
}

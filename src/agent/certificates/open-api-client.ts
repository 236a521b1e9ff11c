import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CertificateError, reasonOf } from '../../certificates/certificate-error.js';
import { makePrivateDirectory } from '../../certificates/private-files.js';
import type { Kubeconfig } from '../../kubeconfig-client/kubeconfig.js';
import type { KubeconfigClient } from '../../kubeconfig-client/kubeconfig-client.js';
import { loadKubeconfig } from '../../kubeconfig-client/load-kubeconfig.js';
import { openKubeconfigClient } from '../../kubeconfig-client/open-client.js';
import { groupNames } from '../../machinery/user-info.js';
import { holdProcess } from '../../std/clock.js';
import type { AgentDependencies } from '../agent-dependencies.js';
import { agentKubeconfig, isOwnKubeconfig, writeAgentKubeconfig } from './agent-kubeconfig.js';
import { CertificateFiles } from './certificate-files.js';
import { CertificateRotation } from './certificate-rotation.js';
import { CertificateSigning, isExpired } from './certificate-signing.js';
import type { CertificateTemplate } from './certificate-template.js';

/**
 * Opens the client of the agent; undefined without --kubeconfig. Without a usable kubeconfig it requests a client
 * certificate with the bootstrap kubeconfig, waits for it, and writes the kubeconfig. The certificate is renewed before it
 * expires; the client notices the changed file, and opens new connections with it.
 */
export async function openApiClient(dependencies: AgentDependencies): Promise<KubeconfigClient | undefined> {
  const { options, clock, logger, undo } = dependencies;
  const { kubeconfig: file, bootstrapKubeconfig, naming } = options;
  if (file === undefined) return undefined;
  const files = new CertificateFiles(resolve(options.certDirectory), 'kubelet-client');
  const rotation = clientRotation(dependencies, file, files);
  undo.add(() => rotation.stop());
  if (!(await isKubeconfigUsable(file, dependencies, files))) {
    const bootstrap = await loadKubeconfig({ file: bootstrapKubeconfig!, naming });
    const pair = await files.current().catch(() => undefined);
    if (!pair || isExpired(pair.leaf, clock.now())) {
      logger.info('requesting a client certificate with the bootstrap kubeconfig', { file: bootstrapKubeconfig });
      await renewed(rotation);
    }
    await makePrivateDirectory(dirname(resolve(file)));
    await writeAgentKubeconfig(file, agentKubeconfig(bootstrap, files.currentPath));
    logger.info('wrote the kubeconfig of the agent', { file });
  }
  const client = await openKubeconfigClient({ file, naming, clock, logger });
  undo.add(() => client.close());
  const ownsCertificate = usesCertificate(await loadKubeconfig({ file, naming }), files);
  if (options.certificates.rotatesClient && ownsCertificate) rotation.start();
  return client;
}

/** Waits for the first certificate. The timers of the wait do not keep the process alive by themselves. */
async function renewed(rotation: CertificateRotation): Promise<void> {
  const hold = holdProcess();
  try {
    await rotation.renew();
  } finally {
    hold.cancel();
  }
}

function clientRotation(dependencies: AgentDependencies, file: string, files: CertificateFiles): CertificateRotation {
  const { options, clock, logger } = dependencies;
  const { bootstrapKubeconfig, naming, nodeName } = options;
  const signing = new CertificateSigning({
    ...dependencies,
    naming,
    purpose: 'client',
    openClient: async () => {
      const current = await files.current().catch(() => undefined);
      const isValid = current && !isExpired(current.leaf, clock.now());
      const used = isValid || bootstrapKubeconfig === undefined ? file : bootstrapKubeconfig;
      return openKubeconfigClient({ file: used, naming, clock, logger });
    },
    releaseClient: (client) => client.close(),
  });
  const template = () => Promise.resolve(clientTemplate(nodeName));
  return new CertificateRotation({ ...dependencies, files, signing, template, purpose: 'client' });
}

function clientTemplate(nodeName: string): CertificateTemplate {
  return { commonName: `system:node:${nodeName}`, organization: groupNames.nodes, dns: [], ip: [] };
}

/** True if the kubeconfig can be used; false if the bootstrap kubeconfig is needed. Throws if neither can be used. */
async function isKubeconfigUsable(
  file: string,
  { options, clock }: AgentDependencies,
  files: CertificateFiles,
): Promise<boolean> {
  const { bootstrapKubeconfig, naming } = options;
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (!exists) {
    if (bootstrapKubeconfig !== undefined) return false;
    throw new CertificateError(`--kubeconfig ${file} does not exist; write it, or set --bootstrap-kubeconfig`);
  }
  let problem: string;
  try {
    const kubeconfig = await loadKubeconfig({ file, naming });
    if (!usesCertificate(kubeconfig, files)) return true;
    const pair = await files.current();
    if (pair && !isExpired(pair.leaf, clock.now())) return true;
    problem = pair ? `its client certificate expired at ${pair.leaf.validTo}` : `${files.currentPath} does not exist`;
  } catch (error) {
    problem = reasonOf(error);
  }
  if (bootstrapKubeconfig !== undefined && (await isOwnKubeconfig(file))) return false;
  throw new CertificateError(
    `--kubeconfig ${file} cannot be used: ${problem}; write another, or move it away and set --bootstrap-kubeconfig`,
  );
}

/** True if the kubeconfig names the certificate that the agent renews. */
function usesCertificate({ user }: Kubeconfig, files: CertificateFiles): boolean {
  const certificate = user.clientCertificate?.certificate;
  return certificate !== undefined && 'file' in certificate && resolve(certificate.file) === files.currentPath;
}

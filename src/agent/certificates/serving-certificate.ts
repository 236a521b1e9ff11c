import { X509Certificate } from 'node:crypto';
import { join, resolve } from 'node:path';
import { GeneratedFiles } from '../../certificates/generated-files.js';
import { makeAuthority, makeKey, makeServingPair, renewalMs, signerOf } from '../../certificates/authority.js';
import { LiveValue, type Live } from '../../certificates/live.js';
import { parseServingPair, validToMs, type KeyPairPem } from '../../certificates/pem.js';
import { makePrivateDirectory, readIfThere, writeAtomically } from '../../certificates/private-files.js';
import { servingNames } from '../../certificates/serving-names.js';
import { liveServingPair } from '../../certificates/tls-material.js';
import type { NodeAddress } from '../../catalog/types/core.v1.js';
import type { KubeconfigClient } from '../../kubeconfig-client/kubeconfig-client.js';
import { groupNames } from '../../machinery/user-info.js';
import { every } from '../../std/clock.js';
import type { AgentDependencies } from '../agent-dependencies.js';
import { nodeAddresses } from '../node/node-addresses.js';
import { CertificateFiles } from './certificate-files.js';
import { CertificateRotation } from './certificate-rotation.js';
import { CertificateSigning, isExpired } from './certificate-signing.js';

const checkMs = 60 * 60_000;

/**
 * Returns the serving certificate of the agent: that of --tls-cert-file, whose changes are followed, a requested one with
 * --rotate-server-certificates, or a generated one.
 */
export async function openServingCertificate(
  dependencies: AgentDependencies,
  client: KubeconfigClient | undefined,
): Promise<Live<KeyPairPem>> {
  const { options, clock, logger, undo } = dependencies;
  const { tlsCertFile: certificateFile, tlsPrivateKeyFile: keyFile } = options.serving;
  if (certificateFile !== undefined && keyFile !== undefined) {
    const pair = await liveServingPair({ certificateFile, keyFile, clock, logger });
    undo.add(() => pair.close());
    return pair;
  }
  return options.certificates.rotatesServing && client
    ? openRequestedPair(dependencies, client)
    : openOwnPair(dependencies);
}

/** Until the first requested certificate is issued, which an administrator approves, a generated one serves. */
async function openRequestedPair(dependencies: AgentDependencies, client: KubeconfigClient): Promise<Live<KeyPairPem>> {
  const { options, clock, logger, undo } = dependencies;
  const files = new CertificateFiles(resolve(options.certDirectory), 'kubelet-server');
  await files.checkLink();
  const stored = await files.current();
  const isUsable = stored && !isExpired(stored.leaf, clock.now());
  const live = new LiveValue<KeyPairPem>(isUsable ? stored : await makeOwnPair(dependencies), logger);
  const rotation = new CertificateRotation({
    ...dependencies,
    files,
    signing: new CertificateSigning({
      ...dependencies,
      naming: options.naming,
      purpose: 'serving',
      openClient: () => Promise.resolve(client),
      // It belongs to the agent.
      releaseClient: () => undefined,
    }),
    purpose: 'serving',
    template: async () => {
      const { dns, ip } = namesOf(await addressesOf(dependencies));
      return { commonName: `system:node:${options.nodeName}`, organization: groupNames.nodes, dns, ip };
    },
    onRenewed: (pair) => live.replace(pair),
  });
  rotation.start();
  undo.add(() => rotation.stop());
  return live;
}

/** Opens kubelet.crt and kubelet.key, generated if they do not exist, and again before they expire. */
async function openOwnPair(dependencies: AgentDependencies): Promise<Live<KeyPairPem>> {
  const { clock, logger, undo } = dependencies;
  const live = new LiveValue(await ownPair(dependencies), logger);
  const timer = every(clock, checkMs, async () => {
    const pair = await ownPair(dependencies);
    if (pair.certificate !== live.current().certificate) live.replace(pair);
  });
  undo.add(() => timer.cancel());
  return live;
}

function addressesOf({ options }: AgentDependencies): Promise<readonly NodeAddress[]> {
  const { nodeName, node } = options;
  return nodeAddresses({ nodeName, hostname: nodeName, nodeIps: node.ips });
}

/** Files of the user are used as they are; those that the agent made are replaced before they expire. */
async function ownPair(dependencies: AgentDependencies): Promise<KeyPairPem> {
  const { options, clock, logger } = dependencies;
  const directory = resolve(options.certDirectory);
  const names = { certificate: 'kubelet.crt', key: 'kubelet.key' };
  const files = { certificate: join(directory, names.certificate), key: join(directory, names.key) };
  const [certificate, key] = await Promise.all([readIfThere(files.certificate), readIfThere(files.key)]);
  const generated = await GeneratedFiles.read(directory);
  const isOwn = (name: string, text: string | undefined) => text === undefined || generated.has(name, text);
  const isReplaceable = isOwn(names.certificate, certificate) && isOwn(names.key, key);
  if (certificate !== undefined && key !== undefined) {
    if (!isReplaceable) return parseServingPair({ certificate, key }, files);
    const leaf = leafOf(certificate);
    if (leaf && validToMs(leaf) - renewalMs > clock.now()) return parseServingPair({ certificate, key }, files);
  } else if (!isReplaceable) {
    logger.warn('one of kubelet.crt and kubelet.key is missing; the other one is kept, and a temporary pair is used', {
      directory,
    });
    return makeOwnPair(dependencies);
  }
  const pair = await makeOwnPair(dependencies);
  await makePrivateDirectory(directory);
  await generated.add(names.certificate, pair.certificate);
  await generated.add(names.key, pair.key);
  await writeAtomically(files.key, pair.key, 0o600);
  await writeAtomically(files.certificate, pair.certificate, 0o644);
  logger.info('generated a serving certificate that no client trusts by itself', { file: files.certificate });
  return pair;
}

function leafOf(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** Returns a certificate with its CA, which only verifies this certificate, as the kubelet generates it. */
async function makeOwnPair(dependencies: AgentDependencies): Promise<KeyPairPem> {
  const { clock, options } = dependencies;
  const found = await addressesOf(dependencies).catch(() => []);
  const names = namesOf([...found, { type: 'Hostname', address: options.nodeName }]);
  const key = makeKey();
  const authority = await makeAuthority(key, clock.now());
  const leaf = await makeServingPair(signerOf(authority, key), { ...names, refused: [] }, clock.now());
  return { certificate: leaf.certificate + authority, key: leaf.key };
}

/** Returns the names and addresses for the certificate, without the names that servingNames() adds for an API server. */
function namesOf(addresses: readonly NodeAddress[]): {
  readonly dns: readonly string[];
  readonly ip: readonly string[];
} {
  const own = addresses.flatMap(({ address }) => address ?? []);
  const { dns, ip } = servingNames({ hostNames: own });
  const added = servingNames({});
  const isWanted = (name: string, others: readonly string[]) => own.includes(name) || !others.includes(name);
  return {
    dns: dns.filter((name) => isWanted(name, added.dns)),
    ip: ip.filter((address) => isWanted(address, added.ip)),
  };
}

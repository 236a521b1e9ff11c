import type { CaBundle } from '../certificates/ca-bundle.js';
import { CertificateError } from '../certificates/certificate-error.js';
import type { Live } from '../certificates/live.js';
import type { KeyPairPem } from '../certificates/pem.js';
import { frontProxySubject, type Pki } from '../certificates/pki.js';
import { LiveRootCa } from '../certificates/root-ca.js';
import { SniContexts, type NamedPair } from '../certificates/sni-contexts.js';
import { liveCaBundle, liveServingPair, TlsMaterial } from '../certificates/tls-material.js';
import type { ServerConfig } from '../config/server-config.js';
import type { ClientTrust } from '../reconcilers/boot/client-trust.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { UndoSteps } from './undo-steps.js';

/** Certificates and keys of the listener, and the CA that verifies front proxies. All of them follow their files. */
export interface ServerTls {
  readonly material: TlsMaterial;
  readonly sni: SniContexts;
  /** --requestheader-client-ca-file */
  readonly proxyCa: Live<CaBundle> | undefined;
  /** The certificate by which aggregated API servers recognize this server. */
  readonly proxyClient: Live<KeyPairPem>;
  /** The CA of that certificate, if this server has issued it and no other CA of proxies is configured. */
  readonly ownProxyCa: Live<CaBundle> | undefined;
}

/** Dependencies of values that follow files. */
export interface FileWatching {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly undo: UndoSteps;
}

export async function openTls(config: ServerConfig, pki: Pki, watching: FileWatching): Promise<ServerTls> {
  const { requestHeader } = config.authentication;
  const proxyCa = await liveBundle(requestHeader.clientCaFile, watching);
  const material = await tlsMaterial(config, { pki, proxyCa }, watching);
  if (proxyCa && requestHeader.allowedNames.length === 0) checkProxyCa(proxyCa.current(), material.clientCaBundle());
  const sni = await sniContexts(config, material, watching);
  const configured = await configuredProxyClient(config, watching);
  const issuesOwn = !configured && !proxyCa;
  return {
    ...{ material, sni, proxyCa },
    proxyClient: configured ?? pki.frontProxy.client,
    ownProxyCa: issuesOwn ? pki.frontProxy.authority : undefined,
  };
}

/** --proxy-client-cert-file */
async function configuredProxyClient(
  { aggregation: { proxyClientCertFile: certificateFile, proxyClientKeyFile: keyFile } }: ServerConfig,
  { clock, logger, undo }: FileWatching,
): Promise<Live<KeyPairPem> | undefined> {
  if (certificateFile === undefined || keyFile === undefined) return undefined;
  const pair = await liveServingPair({ certificateFile, keyFile, clock, logger });
  undo.add(() => pair.close());
  return pair;
}

/** Throws if every client with a certificate of its own would be trusted as a front proxy, for any user. */
function checkProxyCa(proxyCa: CaBundle, clientCa: CaBundle | undefined): void {
  const ofClients = new Set(clientCa?.certificates.map(({ fingerprint256 }) => fingerprint256));
  if (!proxyCa.certificates.some(({ fingerprint256 }) => ofClients.has(fingerprint256))) return;
  throw new CertificateError(
    '--requestheader-client-ca-file, --client-ca-file: both contain a CA (that of the server is always a client CA); ' +
      'name the proxies with --requestheader-allowed-names, or every client could act as any user',
  );
}

async function liveBundle(
  file: string | undefined,
  { clock, logger, undo }: FileWatching,
): Promise<Live<CaBundle> | undefined> {
  if (file === undefined) return undefined;
  const bundle = await liveCaBundle({ file, clock, logger });
  undo.add(() => bundle.close());
  return bundle;
}

async function tlsMaterial(
  { serving }: ServerConfig,
  { pki, proxyCa }: { readonly pki: Pki; readonly proxyCa: Live<CaBundle> | undefined },
  watching: FileWatching,
): Promise<TlsMaterial> {
  const { clock, logger, undo } = watching;
  const { tlsCertFile: certificateFile, tlsPrivateKeyFile: keyFile } = serving;
  const configured =
    certificateFile !== undefined && keyFile !== undefined
      ? await liveServingPair({ certificateFile, keyFile, clock, logger })
      : undefined;
  undo.add(() => configured?.close());
  const clientCa = await liveBundle(serving.clientCaFile, watching);
  const material = new TlsMaterial({
    serving: configured ?? pki.serving!,
    clientCas: [pki.authority, ...(clientCa ? [clientCa] : [])],
    proxyCas: proxyCa ? [proxyCa] : [],
    minVersion: serving.tlsMinVersion,
    cipherSuites: serving.tlsCipherSuites,
    logger,
  });
  undo.add(() => material.close());
  return material;
}

async function sniContexts(
  { serving }: ServerConfig,
  material: TlsMaterial,
  { clock, logger, undo }: FileWatching,
): Promise<SniContexts> {
  const pairs: NamedPair[] = [];
  // Opened one after the other, so that none opens after an earlier one has failed and the start was undone.
  for (const { certFile, keyFile, names } of serving.sniCertKeys) {
    const pair = await liveServingPair({ certificateFile: certFile, keyFile, clock, logger });
    undo.add(() => pair.close());
    pairs.push({ names, pair });
  }
  const contexts = new SniContexts(pairs, material);
  undo.add(() => contexts.close());
  return contexts;
}

/** Returns the CA certificates that verify the serving certificate, for kubeconfigs and kube-root-ca.crt. */
export async function liveRootCa(
  { reconcilers: { rootCaFile } }: ServerConfig,
  pki: Pki,
  { material }: ServerTls,
  watching: FileWatching,
): Promise<LiveRootCa> {
  return new LiveRootCa({
    servingPem: () => material.current().cert,
    own: () => pki.authority.current(),
    known: () => material.clientCaBundle()?.certificates ?? [],
    configured: await liveBundle(rootCaFile, watching),
    onChange: (listener) => material.onChange(listener),
    logger: watching.logger,
  });
}

/** Headers of requests that this server forwards, with the certificate that it has issued for itself. */
const ownProxyNames = {
  allowedNames: [frontProxySubject.commonName],
  usernameHeaders: ['X-Remote-User'],
  uidHeaders: ['X-Remote-Uid'],
  groupHeaders: ['X-Remote-Group'],
  extraHeaderPrefixes: ['X-Remote-Extra-'],
};

/** Returns the CAs and header names by which clients are identified, for extension-apiserver-authentication. */
export function clientTrustOf(
  { authentication: { requestHeader } }: ServerConfig,
  { material, proxyCa, ownProxyCa }: ServerTls,
): Live<ClientTrust> {
  const current = () => ({
    clientCaPem: material.clientCaBundle()?.pem ?? '',
    requestHeader: proxyCa
      ? { ...requestHeader, clientCaPem: proxyCa.current().pem }
      : ownProxyCa && { ...ownProxyNames, clientCaPem: ownProxyCa.current().pem },
  });
  return {
    current,
    onChange(listener) {
      const changed = () => listener(current());
      const ends = [material.onChange(changed), ownProxyCa?.onChange(changed)];
      return () => ends.forEach((end) => end?.());
    },
  };
}

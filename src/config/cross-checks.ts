import type { ServerConfig } from './server-config.js';

/** Settings that are right each for itself and wrong together. `isGiven` takes the name of a flag. */
export function crossChecks(config: ServerConfig, isGiven: (flag: string) => boolean): string[] {
  const { storage, serving, authentication, authorization, flow } = config;
  const errors: string[] = [];
  const exclude = (one: string, others: readonly string[]) => {
    const found = others.filter(isGiven);
    if (isGiven(one) && found.length > 0)
      errors.push(`--${one}: cannot be combined with ${found.map((name) => `--${name}`).join(', ')}`);
  };
  const pair = (cert: string, certFile: string | undefined, key: string, keyFile: string | undefined) => {
    if ((certFile === undefined) !== (keyFile === undefined)) errors.push(`--${cert}, --${key}: give both or neither`);
  };

  if (storage.backend === 'etcd3' && storage.etcd.servers.length === 0) {
    errors.push(
      '--etcd-servers: must be given for the etcd3 backend (--storage-backend=embedded keeps objects in a directory)',
    );
  }
  if (storage.backend !== 'etcd3' && storage.etcd.servers.length > 0) {
    errors.push(`--etcd-servers: cannot be combined with --storage-backend=${storage.backend}`);
  }
  pair('etcd-certfile', storage.etcd.certFile, 'etcd-keyfile', storage.etcd.keyFile);
  pair('tls-cert-file', serving.tlsCertFile, 'tls-private-key-file', serving.tlsPrivateKeyFile);
  if (serving.sniCertKeys.some((item) => item.certFile === '' || item.keyFile === '')) {
    errors.push('--tls-sni-cert-key: must be cert,key or cert,key:name,...');
  }

  exclude('authorization-config', ['authorization-mode', ...webhookFlags, 'authorization-policy-file']);
  exclude('authorization-mode', webhookFlags);
  const { modes } = authorization;
  if (modes.length === 0 && authorization.configFile === undefined)
    errors.push('--authorization-mode: at least one mode must be named');
  if (modes.includes('Webhook') && authorization.webhook.configFile === undefined) {
    errors.push(
      '--authorization-mode: Webhook needs --authorization-config, or --authorization-webhook-config-file alone',
    );
  }
  if (modes.includes('ABAC') !== (authorization.policyFile !== undefined) && authorization.configFile === undefined) {
    errors.push('--authorization-policy-file: goes with --authorization-mode=ABAC, and ABAC needs it');
  }

  const { requestHeader, serviceAccount } = authentication;
  const namesHeaders = requestHeader.usernameHeaders.length > 0;
  if ((requestHeader.clientCaFile === undefined) === namesHeaders) {
    errors.push('--requestheader-client-ca-file, --requestheader-username-headers: give both or neither');
  }
  if (serviceAccount.signingKeyFile !== undefined && serviceAccount.keyFiles.length === 0) {
    errors.push('--service-account-key-file: must be given with --service-account-signing-key-file');
  }
  if (flow.priorityAndFairness && flow.requestsInFlightMax + flow.mutatingRequestsInFlightMax === 0) {
    errors.push(
      '--max-requests-inflight, --max-mutating-requests-inflight: must not both be 0 under priority and fairness',
    );
  }
  return errors;
}

const webhookFlags = [
  'authorization-webhook-config-file',
  'authorization-webhook-version',
  'authorization-webhook-cache-authorized-ttl',
  'authorization-webhook-cache-unauthorized-ttl',
];

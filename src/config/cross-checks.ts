import { admissionPluginNames, missingAdmissionPlugins } from './admission-plugins.js';
import type { Extensions } from './extensions.js';
import { unknownReconcilers } from './reconciler-names.js';
import type { ServerConfig, SigningConfig, SigningFiles } from './server-config.js';
import { storageBackends } from './storage-backends.js';
import { didYouMean } from './suggestion.js';

/** Returns errors about combinations of settings that are valid on their own. */
export function crossChecks(config: ServerConfig, extensions: Extensions): string[] {
  const { storage, serving, authentication, authorization, admission } = config;
  const errors: string[] = [];
  const pair = (cert: string, certFile: string | undefined, key: string, keyFile: string | undefined) => {
    if ((certFile === undefined) !== (keyFile === undefined)) errors.push(`--${cert}, --${key}: give both or neither`);
  };

  const backends = [...storageBackends, ...namesOf(extensions.storageBackends)];
  if (!backends.includes(storage.backend)) {
    errors.push(`--storage-backend: "${storage.backend}" must be one of ${backends.join(', ')}`);
  }
  if (storage.backend === 'etcd3' && storage.etcd.servers.length === 0) {
    errors.push(
      '--etcd-servers: must be given for the etcd3 backend (--storage-backend=embedded stores objects in a directory)',
    );
  }
  if (storage.backend !== 'etcd3' && storage.etcd.servers.length > 0) {
    errors.push(`--etcd-servers: cannot be combined with --storage-backend=${storage.backend}`);
  }
  const mediaTypes = ['application/json', config.naming.protobufMediaType];
  if (!mediaTypes.includes(storage.mediaType)) {
    errors.push(`--storage-media-type: must be one of ${mediaTypes.join(', ')}`);
  }
  pair('etcd-certfile', storage.etcd.certFile, 'etcd-keyfile', storage.etcd.keyFile);
  pair('tls-cert-file', serving.tlsCertFile, 'tls-private-key-file', serving.tlsPrivateKeyFile);
  if (serving.sniCertKeys.some((item) => item.certFile === '' || item.keyFile === '')) {
    errors.push('--tls-sni-cert-key: must be cert,key or cert,key:name,...');
  }

  const { modes } = authorization;
  if (modes.length === 0) errors.push('--authorization-mode: at least one mode must be named');
  // The Webhook mode has no opinion yet: AlwaysAllow would allow requests that the webhook denies.
  if (modes.includes('Webhook') && modes.includes('AlwaysAllow')) {
    errors.push('--authorization-mode: the Webhook mode is not implemented and cannot be combined with AlwaysAllow');
  }

  const { requestHeader } = authentication;
  const namesHeaders = requestHeader.usernameHeaders.length > 0;
  if ((requestHeader.clientCaFile === undefined) === namesHeaders) {
    errors.push('--requestheader-client-ca-file, --requestheader-username-headers: give both or neither');
  }
  const ownPlugins = namesOf(extensions.admissionPlugins);
  errors.push(...pluginErrors('enable-admission-plugins', admission.enabledPlugins, ownPlugins));
  const missing = admission.enabledPlugins.filter(
    (name) => missingAdmissionPlugins.includes(name) && !ownPlugins.includes(name),
  );
  errors.push(
    ...missing.map(
      (name) => `--enable-admission-plugins: ${name} is not implemented by this server; remove it from the list`,
    ),
  );
  errors.push(...pluginErrors('disable-admission-plugins', admission.disabledPlugins, ownPlugins));
  const inBoth = admission.enabledPlugins.filter((name) => admission.disabledPlugins.includes(name)).join(', ');
  if (inBoth !== '') {
    errors.push(
      `--enable-admission-plugins, --disable-admission-plugins: ${inBoth} is enabled and disabled; remove it from one of them`,
    );
  }
  errors.push(...signingErrors(config.reconcilers.signing));
  const unknown = unknownReconcilers(config.reconcilers.controllers, namesOf(extensions.reconcilers));
  errors.push(...unknown.map((problem) => `--controllers: ${problem}`));
  return errors;
}

const ownSigners = [
  ['kube-apiserver-client', 'apiServerClient'],
  ['kubelet-client', 'kubeletClient'],
  ['kubelet-serving', 'kubeletServing'],
  ['legacy-unknown', 'legacyUnknown'],
] as const;

function signingErrors(signing: SigningConfig): string[] {
  const isSet = ({ certFile, keyFile }: SigningFiles) => certFile !== undefined || keyFile !== undefined;
  const isHalf = ({ certFile, keyFile }: SigningFiles) => (certFile === undefined) !== (keyFile === undefined);
  const configured = ownSigners.filter(([, kind]) => isSet(signing[kind]));
  const pairs = [['', signing] as const, ...ownSigners.map(([name, kind]) => [`${name}-`, signing[kind]] as const)];
  return [
    ...pairs
      .filter(([, files]) => isHalf(files))
      .map(([name]) => `--cluster-signing-${name}cert-file, --cluster-signing-${name}key-file: give both or neither`),
    ...(isSet(signing) && configured.length > 0
      ? [`--cluster-signing-cert-file, --cluster-signing-${configured[0]![0]}-cert-file: cannot be given together`]
      : []),
  ];
}

const namesOf = (definitions: Extensions['reconcilers'] = []) => definitions.map(({ name }) => name);

function pluginErrors(flag: string, names: readonly string[], ownPlugins: readonly string[]): string[] {
  const known = [...admissionPluginNames, ...ownPlugins];
  const unknown = names.filter((name) => !known.includes(name));
  return unknown.map((name) => `--${flag}: unknown admission plug-in ${name}${didYouMean(name, known)}`);
}

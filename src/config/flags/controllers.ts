import { used, type Flag, type FlagTopic } from '../flag.js';

/** Flags of kube-controller-manager for reconcilers that run in this server. */

const signing = 'reconcilers.signing';

export const controllerFlags: FlagTopic = {
  title: 'Controllers',
  flags: [
    used(
      'root-ca-file',
      'string',
      '',
      'reconcilers.rootCaFile',
      'CA certificates that verify the serving certificate, published in every namespace; by default found by the server',
    ),
    ...signingFiles('', signing, "certificates of the built-in signers; by default the server's own CA"),
    ...signingFiles('kube-apiserver-client-', `${signing}.apiServerClient`, 'client certificates'),
    ...signingFiles('kubelet-client-', `${signing}.kubeletClient`, 'client certificates of kubelets'),
    ...signingFiles('kubelet-serving-', `${signing}.kubeletServing`, 'serving certificates of kubelets'),
    ...signingFiles('legacy-unknown-', `${signing}.legacyUnknown`, 'certificates of the signer legacy-unknown'),
    used(
      'cluster-signing-duration',
      'duration',
      '8760h0m0s',
      `${signing}.durationMsMax`,
      'maximum validity of a signed certificate',
    ),
  ],
};

function signingFiles(prefix: string, key: string, signed: string): Flag[] {
  return [
    used(`cluster-signing-${prefix}cert-file`, 'string', '', `${key}.certFile`, `CA certificate that signs ${signed}`),
    used(
      `cluster-signing-${prefix}key-file`,
      'string',
      '',
      `${key}.keyFile`,
      `key of --cluster-signing-${prefix}cert-file`,
    ),
  ];
}

import { nearest } from './suggestion.js';

/** Names that --controllers takes, each with the older names that kube-controller-manager has for it. */
const reconcilers: Readonly<Record<string, readonly string[]>> = {
  'certificatesigningrequest-approving-controller': ['csrapproving'],
  'certificatesigningrequest-cleaner-controller': ['csrcleaner'],
  'certificatesigningrequest-signing-controller': ['csrsigning'],
  'clusterrole-aggregation-controller': ['clusterrole-aggregation'],
  'disruption-controller': ['disruption'],
  'event-expiry-controller': [],
  'garbage-collector-controller': ['garbagecollector'],
  'namespace-controller': ['namespace'],
  'persistentvolume-protection-controller': ['pv-protection'],
  'persistentvolumeclaim-protection-controller': ['pvc-protection'],
  'resourcequota-controller': ['resourcequota'],
  'root-ca-certificate-publisher-controller': ['root-ca-cert-publisher'],
  'service-cidr-controller': [],
  'serviceaccount-controller': ['serviceaccount'],
  'serviceaccount-token-controller': ['serviceaccount-token'],
  'ttl-after-finished-controller': ['ttl-after-finished'],
  'volumeattributesclass-protection-controller': [],
};

export const reconcilerNames: readonly string[] = Object.keys(reconcilers);

const allNames = Object.entries(reconcilers).flatMap(([name, aliases]) => [name, ...aliases]);

/**
 * `*` is all of them and `-*` none; one that is named is on, or off with "-" before it, wherever it stands. As in
 * kube-controller-manager, the first word that fits a name counts.
 */
export function isReconcilerEnabled(controllers: readonly string[], name: string): boolean {
  const names = [name, ...(reconcilers[name] ?? [])];
  for (const word of controllers) {
    if (names.includes(word)) return true;
    if (word.startsWith('-') && names.includes(word.slice(1))) return false;
  }
  return controllers.includes('*') && !controllers.includes('-*');
}

/** True if it is named by itself, not only by `*`. */
export function isReconcilerNamed(controllers: readonly string[], name: string): boolean {
  return [name, ...(reconcilers[name] ?? [])].some((known) => controllers.includes(known));
}

export function unknownReconcilers(controllers: readonly string[]): string[] {
  return controllers
    .filter((word) => word !== '*' && word !== '-*' && !allNames.includes(word.replace(/^-/, '')))
    .map((word) => {
      const meant = nearest(word.replace(/^-/, ''), allNames);
      return `${word} is no reconciler of this server${meant === undefined ? '' : `; did you mean ${word.startsWith('-') ? '-' : ''}${meant}?`}`;
    });
}

import { nearest } from './suggestion.js';

/** Names that --controllers accepts, each with its aliases in kube-controller-manager. */
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
 * True if --controllers enables the reconciler: `*` enables all, `-*` none, `name` and `-name` a single one in any
 * position. As in kube-controller-manager, the first entry that matches the name takes precedence.
 */
export function isReconcilerEnabled(controllers: readonly string[], name: string): boolean {
  const names = [name, ...(reconcilers[name] ?? [])];
  for (const word of controllers) {
    if (names.includes(word)) return true;
    if (word.startsWith('-') && names.includes(word.slice(1))) return false;
  }
  return controllers.includes('*') && !controllers.includes('-*');
}

/** True if --controllers contains the name itself, not only `*`. */
export function isReconcilerNamed(controllers: readonly string[], name: string): boolean {
  return [name, ...(reconcilers[name] ?? [])].some((known) => controllers.includes(known));
}

export function unknownReconcilers(controllers: readonly string[]): string[] {
  return controllers
    .filter((word) => word !== '*' && word !== '-*' && !allNames.includes(word.replace(/^-/, '')))
    .map((word) => {
      const meant = nearest(word.replace(/^-/, ''), allNames);
      return `unknown reconciler ${word}${meant === undefined ? '' : `; did you mean ${word.startsWith('-') ? '-' : ''}${meant}?`}`;
    });
}

import { nearest } from './suggestion.js';

/** What --controllers can name, with the names that kube-controller-manager had before. */
const reconcilers: Readonly<Record<string, readonly string[]>> = {
  'clusterrole-aggregation-controller': ['clusterrole-aggregation'],
  'event-expiry-controller': [],
  'garbage-collector-controller': ['garbagecollector'],
  'namespace-controller': ['namespace'],
  'resourcequota-controller': ['resourcequota'],
  'root-ca-certificate-publisher-controller': ['root-ca-cert-publisher'],
  'service-cidr-controller': [],
  'serviceaccount-controller': ['serviceaccount'],
  'serviceaccount-token-controller': ['serviceaccount-token'],
};

export const reconcilerNames: readonly string[] = Object.keys(reconcilers);

const allNames = Object.entries(reconcilers).flatMap(([name, aliases]) => [name, ...aliases]);

/** `*` is all of them; one that is named is on, or off with "-" before it, wherever it stands. */
export function isReconcilerEnabled(controllers: readonly string[], name: string): boolean {
  const names = [name, ...(reconcilers[name] ?? [])];
  if (names.some((known) => controllers.includes(known))) return true;
  if (names.some((known) => controllers.includes(`-${known}`))) return false;
  return controllers.includes('*');
}

export function unknownReconcilers(controllers: readonly string[]): string[] {
  return controllers
    .filter((word) => word !== '*' && !allNames.includes(word.replace(/^-/, '')))
    .map((word) => {
      const meant = nearest(word.replace(/^-/, ''), allNames);
      return `${word} is no reconciler of this server${meant === undefined ? '' : `; did you mean ${word.startsWith('-') ? '-' : ''}${meant}?`}`;
    });
}

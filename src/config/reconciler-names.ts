import type { Runs, SwitchableRuns } from './runs.js';
import { didYouMean } from './suggestion.js';

interface Switchable {
  readonly runs: SwitchableRuns;
  /** Other names that kube-controller-manager accepts in --controllers. */
  readonly aliases: readonly string[];
}

/**
 * Reconcilers that --controllers can name. Their definitions are in src/reconcilers/reconcilers.ts, which compiles only if
 * it has each of these names with this default, and no others.
 */
export const switchableReconcilers = {
  'bootstrap-signer-controller': { runs: 'if enabled', aliases: ['bootstrapsigner'] },
  'certificatesigningrequest-approving-controller': { runs: 'by default', aliases: ['csrapproving'] },
  'certificatesigningrequest-cleaner-controller': { runs: 'by default', aliases: ['csrcleaner'] },
  'certificatesigningrequest-signing-controller': { runs: 'by default', aliases: ['csrsigning'] },
  'clusterrole-aggregation-controller': { runs: 'by default', aliases: ['clusterrole-aggregation'] },
  'disruption-controller': { runs: 'by default', aliases: ['disruption'] },
  'event-expiry-controller': { runs: 'by default', aliases: [] },
  'garbage-collector-controller': { runs: 'by default', aliases: ['garbagecollector'] },
  'namespace-controller': { runs: 'by default', aliases: ['namespace'] },
  'node-lifecycle-controller': { runs: 'by default', aliases: ['nodelifecycle'] },
  'persistentvolume-protection-controller': { runs: 'by default', aliases: ['pv-protection'] },
  'persistentvolumeclaim-protection-controller': { runs: 'by default', aliases: ['pvc-protection'] },
  'pod-garbage-collector-controller': { runs: 'by default', aliases: ['podgc'] },
  'resourcequota-controller': { runs: 'by default', aliases: ['resourcequota'] },
  'root-ca-certificate-publisher-controller': { runs: 'by default', aliases: ['root-ca-cert-publisher'] },
  'service-cidr-controller': { runs: 'by default', aliases: [] },
  'serviceaccount-controller': { runs: 'by default', aliases: ['serviceaccount'] },
  'serviceaccount-token-controller': { runs: 'by default', aliases: ['serviceaccount-token'] },
  'storage-version-migrator-controller': { runs: 'by default', aliases: ['svm'] },
  'taint-eviction-controller': { runs: 'by default', aliases: [] },
  'token-cleaner-controller': { runs: 'if enabled', aliases: ['tokencleaner'] },
  'ttl-after-finished-controller': { runs: 'by default', aliases: ['ttl-after-finished'] },
  'validatingadmissionpolicy-status-controller': {
    runs: 'by default',
    aliases: ['validatingadmissionpolicy-status'],
  },
  'volumeattributesclass-protection-controller': { runs: 'by default', aliases: [] },
} as const satisfies Readonly<Record<string, Switchable>>;

const table: Readonly<Record<string, Switchable>> = switchableReconcilers;

/** Names that --controllers accepts, without aliases. */
export const reconcilerNames: readonly string[] = Object.keys(table);

/** Names of reconcilers that `*` does not enable. */
export const reconcilersOffByDefault: readonly string[] = reconcilerNames.filter(
  (name) => table[name]?.runs === 'if enabled',
);

const allNames = Object.entries(table).flatMap(([name, { aliases }]) => [name, ...aliases]);

/** The name and the default of a reconciler. */
interface NamedReconciler {
  readonly name: string;
  readonly runs: Runs;
}

/**
 * True if --controllers enables the reconciler: `*` enables all that run by default, `-*` none, `name` and `-name` a
 * single one in any position. As in kube-controller-manager, the first entry that matches the name takes precedence.
 */
export function isReconcilerEnabled(controllers: readonly string[], { name, runs }: NamedReconciler): boolean {
  if (runs === 'always') return true;
  const names = [name, ...(table[name]?.aliases ?? [])];
  for (const word of controllers) {
    if (names.includes(word)) return true;
    if (word.startsWith('-') && names.includes(word.slice(1))) return false;
  }
  return runs === 'by default' && controllers.includes('*') && !controllers.includes('-*');
}

/** True if --controllers contains the name itself, not only `*`. */
export function isReconcilerNamed(controllers: readonly string[], name: string): boolean {
  return [name, ...(table[name]?.aliases ?? [])].some((known) => controllers.includes(known));
}

/** Returns the errors of unknown names. `extensions` are names of reconcilers of an embedding program. */
export function unknownReconcilers(controllers: readonly string[], extensions: readonly string[] = []): string[] {
  const known = [...allNames, ...extensions];
  return controllers
    .filter((word) => word !== '*' && word !== '-*' && !known.includes(word.replace(/^-/, '')))
    .map((word) => {
      const sign = word.startsWith('-') ? '-' : '';
      return `unknown reconciler ${word}${didYouMean(word.slice(sign.length), known, (meant) => sign + meant)}`;
    });
}

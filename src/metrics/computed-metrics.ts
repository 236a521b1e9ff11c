import type { DeclaredValidation } from '../registry/write/declared-validation.js';
import { family, single, type MetricFamily } from './metric-family.js';
import type { VersionDocument } from '../config/version-document.js';

export function buildFamilies({
  major,
  minor,
  emulationMajor,
  emulationMinor,
  minCompatibilityMajor,
  minCompatibilityMinor,
  gitVersion,
  gitCommit,
  gitTreeState,
  buildDate,
  goVersion,
  compiler,
  platform,
}: VersionDocument): MetricFamily[] {
  const labels = {
    major,
    minor,
    git_version: gitVersion,
    git_commit: gitCommit,
    git_tree_state: gitTreeState,
    build_date: buildDate,
    go_version: goVersion,
    compiler,
    platform,
  };
  const versions = {
    binary: `${major}.${minor}`,
    component: 'kube',
    emulation: `${emulationMajor}.${emulationMinor}`,
    min_compat: `${minCompatibilityMajor}.${minCompatibilityMinor}`,
  };
  return [
    family('kubernetes_build_info', 'gauge', '[BETA] Always 1, with the build of the server as labels.', () => [
      { labels, value: 1 },
    ]),
    family(
      'version_info',
      'gauge',
      '[ALPHA] Always 1, with binary, emulation and minimum compatibility version as labels.',
      () => [{ labels: versions, value: 1 }],
    ),
  ];
}

/** Results of one health check at one endpoint. */
interface HealthRecord {
  readonly name: string;
  readonly endpoint: string;
  readonly passed: number;
  readonly failed: number;
  readonly lastPassed: boolean;
}

/** Returns the metrics of health checks, which count the probes. */
export function healthFamilies(checks: { records(): Iterable<HealthRecord> }): MetricFamily[] {
  return [
    family(
      'kubernetes_healthcheck',
      'gauge',
      '[STABLE] Last result of a health check: 1 if it passed, 0 if it failed.',
      () =>
        Array.from(checks.records(), ({ name, endpoint, lastPassed }) => ({
          labels: { name, type: endpoint },
          value: lastPassed ? 1 : 0,
        })),
    ),
    family('kubernetes_healthchecks_total', 'counter', '[STABLE] Results of a health check, by status.', () =>
      [...checks.records()].flatMap(({ name, endpoint, passed, failed }) => [
        { labels: { name, type: endpoint, status: 'success' }, value: passed },
        { labels: { name, type: endpoint, status: 'error' }, value: failed },
      ]),
    ),
  ];
}

export function declaredValidationFamilies(validation: DeclaredValidation): MetricFamily[] {
  const help = '[BETA] Validations in which declarative and handwritten rules found different errors.';
  return [single('declarative_validation_mismatch_total', 'counter', help, () => validation.mismatches)];
}

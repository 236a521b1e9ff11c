import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { validateQualifiedName } from '../../../machinery/names.js';

/** Resources of containers. Names without a slash are reserved for Kubernetes; others belong to the owner of the domain. */
const containerResources = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** Resources that are counted in integers: numbers of objects. */
export const integerResources: ReadonlySet<string> = new Set([
  ...['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps'],
  ...['persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers'],
]);
const quotaResources = new Set([
  ...containerResources,
  ...integerResources,
  'requests.storage',
  ...[...containerResources].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
]);

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
const isContainerResource = (name: string): boolean => containerResources.has(name) || isHugePages(name);
export const isQuotaResource = (name: string): boolean =>
  quotaResources.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-');
const isStandardResource = (name: string): boolean => isQuotaResource(name) || name === 'storage';

/** True if a limit may exceed the request. Extended resources and huge pages cannot be shared. */
export const isOvercommitAllowed = (name: string): boolean => !isHugePages(name) && !name.includes('/');

function problemsOf(name: string): string[] {
  const problems = validateQualifiedName(name);
  if (problems.length > 0) return problems;
  return name.includes('/') || isStandardResource(name) ? [] : ['must be a standard resource type or fully qualified'];
}

const toErrors = (name: string, at: FieldPath, problems: readonly string[]): FieldError[] =>
  problems.map((problem) => fieldError.invalid(at, name, problem));

export const validateResourceName = (name: string, at: FieldPath): FieldError[] => toErrors(name, at, problemsOf(name));

export function validateContainerResourceName(name: string, at: FieldPath): FieldError[] {
  const problems = problemsOf(name);
  if (!name.includes('/') && validateQualifiedName(name).length === 0 && !isContainerResource(name)) {
    problems.push('must be a standard resource for containers');
  }
  return toErrors(name, at, problems);
}

export function validateQuotaResourceName(name: string, at: FieldPath): FieldError[] {
  const problems = problemsOf(name);
  if (!name.includes('/') && validateQualifiedName(name).length === 0 && !isQuotaResource(name)) {
    problems.push('must be a standard resource for quota');
  }
  return toErrors(name, at, problems);
}

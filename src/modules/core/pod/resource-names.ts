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

/** Makes the rule for the names of one use. Names without a domain must be standard, and allowed in this use. */
function nameRule(use?: { readonly has: (name: string) => boolean; readonly refusal: string }) {
  return (name: string, at: FieldPath): FieldError[] => {
    const problems = validateQualifiedName(name);
    if (problems.length === 0 && !name.includes('/')) {
      if (!isStandardResource(name)) problems.push('must be a standard resource type or fully qualified');
      if (use && !use.has(name)) problems.push(use.refusal);
    }
    return problems.map((problem) => fieldError.invalid(at, name, problem));
  };
}

export const validateResourceName = nameRule();
export const validateContainerResourceName = nameRule({
  has: isContainerResource,
  refusal: 'must be a standard resource for containers',
});
export const validateQuotaResourceName = nameRule({
  has: isQuotaResource,
  refusal: 'must be a standard resource for quota',
});

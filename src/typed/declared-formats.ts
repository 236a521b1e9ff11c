import { fieldError, goQuote, type FieldError } from '../machinery/field-error.js';
import {
  dnsSubdomainLengthMax,
  firstParts,
  validateCIdentifier,
  validateDnsLabel,
  validateDnsSubdomain,
  validateLabelValue,
  validatePathSegment,
  validateQualifiedName,
} from '../machinery/names.js';

/** Formats of strings in declared rules. */
type Format = (text: string, at: string, names: FormatNames) => FieldError[];
export interface FormatNames {
  /** Prefix that names of extended resources must not have: `kubernetes.io/`. */
  readonly ownResourcePrefix: string;
}

const resourcePrefixLengthMax = 63;
const resourceNameLengthMax = 32;
/** Prefix of resource names in quotas. */
const requestsPrefix = 'requests.';

const checkedBy =
  (check: (text: string) => string[]): Format =>
  (text, at) =>
    check(text).map((problem) => fieldError.invalid(at, text, problem));

export const formats: Readonly<Record<string, Format>> = {
  'k8s-short-name': checkedBy(validateDnsLabel),
  'k8s-long-name': checkedBy(validateDnsSubdomain),
  'k8s-long-name-caseless': checkedBy(validateCaselessSubdomain),
  'k8s-label-key': checkedBy(validateQualifiedName),
  'k8s-label-value': checkedBy(validateLabelValue),
  'k8s-path-segment-name': checkedBy(validatePathSegment),
  'k8s-uuid': checkedBy((text) =>
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? [] : ['must be a lowercase UUID in 8-4-4-4-12 format'],
  ),
  'k8s-resource-pool-name': resourcePoolName,
  'k8s-extended-resource-name': extendedResourceName,
  'k8s-resource-fully-qualified-name': fullyQualifiedName,
};

/** DNS subdomain in either case, with messages that do not ask for lower case. */
function validateCaselessSubdomain(text: string): string[] {
  return validateDnsSubdomain(text.toLowerCase()).map((problem) =>
    problem
      .replace('a lowercase RFC 1123 subdomain must consist of lower case', 'an RFC 1123 subdomain must consist of')
      .replace("'example.com'", "'Example.com'"),
  );
}

function resourcePoolName(text: string, at: string): FieldError[] {
  const errors = text.length > dnsSubdomainLengthMax ? [fieldError.tooLong(at, dnsSubdomainLengthMax)] : [];
  for (const [index, part] of firstParts(text, '/').entries()) {
    if (part === '') errors.push(fieldError.invalid(at, text, `segment ${index}: must not be empty`));
    else errors.push(...subdomainPart(part, at, `segment ${index}: `));
  }
  return errors;
}

function extendedResourceName(text: string, at: string, names: FormatNames): FieldError[] {
  const problems: string[] = [];
  if (!text.includes('/')) problems.push("a name must be a domain-prefixed path, such as 'example.com/my-prop'");
  else if (text.includes(names.ownResourcePrefix)) {
    problems.push(`must not have ${goQuote(names.ownResourcePrefix)} domain`);
  }
  if (text.startsWith(requestsPrefix)) problems.push(`must not have ${goQuote(requestsPrefix)} prefix`);
  problems.push(...validateQualifiedName(requestsPrefix + text));
  return problems.map((problem) => fieldError.invalid(at, text, problem));
}

function fullyQualifiedName(text: string, at: string): FieldError[] {
  const parts = text.split('/', 3);
  const errors: FieldError[] = [];
  if (parts.length === 1) errors.push(...cIdentifier(text, at));
  if (parts.length === 2) {
    const [domain = '', name = ''] = parts;
    if (domain === '') errors.push(fieldError.invalid(at, '', 'prefix must not be empty'));
    else {
      if (domain.length > resourcePrefixLengthMax) errors.push(fieldError.tooLong(at, resourcePrefixLengthMax));
      errors.push(...subdomainPart(domain, at, 'prefix: '));
    }
    if (name === '') errors.push(fieldError.invalid(at, '', 'name must not be empty'));
    else errors.push(...cIdentifier(name, at));
  }
  if (parts.length === 1) {
    errors.push(
      fieldError.invalid(at, text, 'a fully qualified name must be a domain and a name separated by a slash'),
    );
  }
  return errors;
}

function subdomainPart(part: string, at: string, where: string): FieldError[] {
  return validateDnsSubdomain(part).map((problem) => fieldError.invalid(at, part, where + problem));
}

function cIdentifier(name: string, at: string): FieldError[] {
  return [
    ...(name.length > resourceNameLengthMax ? [fieldError.tooLong(at, resourceNameLengthMax)] : []),
    ...validateCIdentifier(name).map((problem) => fieldError.invalid(at, name, problem)),
  ];
}

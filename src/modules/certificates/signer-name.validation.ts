import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';
import {
  dnsLabelLengthMax,
  dnsSubdomainLengthMax,
  firstParts,
  validateDnsLabel,
  validateDnsSubdomain,
} from '../../machinery/names.js';

const pathLengthMax = dnsSubdomainLengthMax + dnsLabelLengthMax + 1;
const lengthMax = dnsSubdomainLengthMax + pathLengthMax + 1;

/** Validates `example.com/name`: a domain of at least two labels, and a path of DNS subdomains with dots between them. */
export function validateSignerName(name: string, at: FieldPath): FieldError[] {
  if (name === '') return required(name, at);
  const [domain = '', path = '', ...rest] = name.split('/', 3);
  if (rest.length > 0 || !name.includes('/')) {
    const message = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [fieldError.invalid(at, name, message)];
  }
  const errors: FieldError[] = [];
  if (domain.length > dnsSubdomainLengthMax) errors.push(fieldError.tooLong(at, dnsSubdomainLengthMax));
  errors.push(...validateSegments(domain, at, validateDnsLabel));
  if (!domain.includes('.')) {
    const message = 'should be a domain with at least two segments separated by dots';
    errors.push(fieldError.invalid(at, domain, message));
  }
  errors.push(...validateSegments(path, at, validateDnsSubdomain));
  if (path.length > pathLengthMax) errors.push(fieldError.tooLong(at, pathLengthMax));
  if (name.length > lengthMax) errors.push(fieldError.tooLong(at, lengthMax));
  return errors;
}

function validateSegments(text: string, at: FieldPath, check: (segment: string) => string[]): FieldError[] {
  return firstParts(text, '.').flatMap((segment) =>
    check(segment).map((message) => fieldError.invalid(at, text, `validating label "${segment}": ${message}`)),
  );
}

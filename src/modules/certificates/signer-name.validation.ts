import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';
import {
  dnsLabelLengthMax,
  dnsSubdomainLengthMax,
  validateDnsLabel,
  validateDnsSubdomain,
} from '../../machinery/names.js';

const pathLengthMax = dnsSubdomainLengthMax + dnsLabelLengthMax + 1;
const lengthMax = dnsSubdomainLengthMax + pathLengthMax + 1;

/** `example.com/name`: a domain of two labels at least, and a path of names with dots between them. */
export function validateSignerName(name: string, at: FieldPath): FieldError[] {
  if (name === '') return required(name, at);
  const where = String(at);
  const [domain = '', path = '', ...rest] = name.split('/');
  if (rest.length > 0 || !name.includes('/')) {
    const message = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [fieldError.invalid(where, name, message)];
  }
  const errors: FieldError[] = [];
  if (domain.length > dnsSubdomainLengthMax) errors.push(fieldError.tooLong(where, dnsSubdomainLengthMax));
  errors.push(...validateParts(domain, where, validateDnsLabel));
  if (!domain.includes('.')) {
    const message = 'should be a domain with at least two segments separated by dots';
    errors.push(fieldError.invalid(where, domain, message));
  }
  errors.push(...validateParts(path, where, validateDnsSubdomain));
  if (path.length > pathLengthMax) errors.push(fieldError.tooLong(where, pathLengthMax));
  if (name.length > lengthMax) errors.push(fieldError.tooLong(where, lengthMax));
  return errors;
}

function validateParts(text: string, where: string, check: (part: string) => string[]): FieldError[] {
  return text
    .split('.')
    .flatMap((part) =>
      check(part).map((message) => fieldError.invalid(where, text, `validating label "${part}": ${message}`)),
    );
}

/** More components than a valid image has: a host, and a path of at most 255 characters. */
const componentsMax = 130;
const component = /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*$/;

/**
 * Returns the tag of an image: `latest` if it has neither tag nor digest, and `` if it has only a digest or is malformed.
 * The part before the first slash may be a host with a port.
 */
export function imageTag(image: string): string {
  const [reference = '', digest] = image.split('@', 2);
  const lastSlash = reference.lastIndexOf('/');
  const colon = reference.indexOf(':', lastSlash + 1);
  const name = colon < 0 ? reference : reference.slice(0, colon);
  const components = name.split('/', componentsMax);
  if (components.length === componentsMax) return '';
  const startsWithHost = components.length > 1 && /[.:A-Z]|^localhost$/.test(components[0]!);
  if (!components.slice(startsWithHost ? 1 : 0).every((text) => component.test(text))) return '';
  if (colon >= 0) return reference.slice(colon + 1);
  return digest === undefined ? 'latest' : '';
}

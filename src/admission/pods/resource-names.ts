import type { NamingProfile } from '../../config/naming-profile.js';

/** True for extended resources (`example.com/gpu`): names with a domain that is not the label domain or below it. */
export function isExtendedResource(name: string, naming: NamingProfile): boolean {
  return name.includes('/') && !isNative(name, naming) && !name.startsWith('requests.');
}

function isNative(name: string, naming: NamingProfile): boolean {
  const domain = name.slice(0, name.indexOf('/'));
  return domain === naming.labelDomain || domain.endsWith(`.${naming.labelDomain}`);
}

export const isHugePage = (name: string): boolean => name.startsWith('hugepages-');

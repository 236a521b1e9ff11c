/**
 * Distinguishes metadata.managedFields from other fields of that name while an object is decoded map by map:
 *
 *   path.open(); for each key: path.isManagedFields(key) …; path.close();
 */
export class MetadataPath {
  private depth = 0;
  private isMetadata = false;

  open(): void {
    this.depth++;
  }

  close(): void {
    this.depth--;
  }

  isManagedFields(key: unknown): boolean {
    if (this.depth > 2) return false;
    if (this.depth === 1) this.isMetadata = key === 'metadata';
    return this.depth === 2 && this.isMetadata && key === 'managedFields';
  }
}

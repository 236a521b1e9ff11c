import { Module } from '@nestjs/common';
import { ResourceGroup } from './resource.group.js';

@Module({ providers: [{ provide: ResourceGroup, useFactory: () => new ResourceGroup() }] })
export class ResourceModule {}

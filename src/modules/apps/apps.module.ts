import { Module } from '@nestjs/common';
import { AppsGroup } from './apps.group.js';

@Module({ providers: [{ provide: AppsGroup, useFactory: () => new AppsGroup() }] })
export class AppsModule {}

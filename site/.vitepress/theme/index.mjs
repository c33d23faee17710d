import DefaultTheme from 'vitepress/theme-without-fonts';
import BreakingChanges from './BreakingChanges.vue';
import './site.css';

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => {
    app.component('BreakingChanges', BreakingChanges);
  },
};

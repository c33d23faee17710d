import { useData } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { onMounted, watch } from 'vue';
import BreakingChanges from './BreakingChanges.vue';
import './site.css';

/** Gives the content of the start page the ARIA role `main`; on all other pages, the theme marks the main content. */
function markMainPart() {
  const { frontmatter } = useData();
  const mark = () => {
    const content = document.querySelector('#VPContent');
    if (frontmatter.value.layout === 'home') content?.setAttribute('role', 'main');
    else content?.removeAttribute('role');
  };
  onMounted(mark);
  watch(frontmatter, mark);
}

export default {
  extends: DefaultTheme,
  setup: markMainPart,
  enhanceApp: ({ app }) => {
    app.component('BreakingChanges', BreakingChanges);
  },
};

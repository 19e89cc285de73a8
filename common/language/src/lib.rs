//! What words are: segmentation, folding, stemming, stop words, language, token counts; pure.
